-- A job's input can arrive while it runs, and what it says can be read meanwhile.
create table stream_inputs (
    job_id uuid not null,
    n bigint not null,
    bytes bytea not null,
    mark jsonb,
    primary key (job_id, n)
);
alter table stream_inputs alter column bytes set storage external;
comment on table stream_inputs is 'The input of jobs that arrives while they run, from the part on that the next attempt would have to read. Deleted with the job, and when it ends unless it is dead.';
comment on column stream_inputs.job_id is 'The job it belongs to.';
comment on column stream_inputs.bytes is 'The bytes as they were sent; their format stands in the parameters of the job. Stored uncompressed.';
comment on column stream_inputs.n is 'Its number, from 1 without gaps.';
comment on column stream_inputs.mark is 'What the caller asks for behind these bytes; null for nothing.';

create table stream_outputs (
    job_id uuid not null,
    n bigint not null,
    event jsonb not null,
    primary key (job_id, n)
);
comment on table stream_outputs is 'What jobs with such an input have said so far. Nothing is taken back, also by later attempts. Deleted with the job.';
comment on column stream_outputs.job_id is 'The job it belongs to.';
comment on column stream_outputs.event is 'What it said, as its operation writes it.';
comment on column stream_outputs.n is 'Its number, from 1 without gaps, through all attempts.';

create table streams (
    job_id uuid primary key,
    n_read bigint not null default 0,
    checkpoint jsonb,
    preview jsonb
);
comment on table streams is 'The jobs with such an input, from its first part on. Deleted with the job.';
comment on column streams.job_id is 'The job.';
comment on column streams.n_read is 'Parts of the input up to this number are read and deleted.';
comment on column streams.checkpoint is 'What the next attempt has to know of them; null if nothing is read.';
comment on column streams.preview is 'What the job would say next and may still change; null for nothing.';

create or replace function delete_parts_of_jobs() returns trigger language plpgsql as $$
declare
    jobs constant uuid[] := array(select id from deleted);
begin
    delete from artifacts where job_id = any(jobs);
    delete from segments where job_id = any(jobs);
    delete from failed_attempts where job_id = any(jobs);
    delete from webhook_deliveries where job_id = any(jobs);
    delete from streams where job_id = any(jobs);
    delete from stream_inputs where job_id = any(jobs);
    delete from stream_outputs where job_id = any(jobs);
    return null;
end $$;
comment on function delete_parts_of_jobs() is 'Deletes what belongs to deleted jobs: artifacts, segments, failed attempts, webhooks and streams.';

create or replace function running_jobs() returns setof jobs language sql stable as $$
    select j.* from (values ('quick', 1::int2), ('quick', 0::int2), ('speech', 1::int2), ('speech', 0::int2),
        ('live', 1::int2), ('live', 0::int2)) as claimed (queue, priority)
    join jobs j on j.queue = claimed.queue and j.priority = claimed.priority and j.ended_at is null and j.state = 'running'
        and j.turn <= coalesce((
            select c.turn from claimed_turns c where c.queue = claimed.queue and c.priority = claimed.priority
            order by c.turn desc limit 1), 0)
$$;
