create table queue_controls (
    queue text primary key,
    mode text not null check (mode in ('open', 'paused', 'draining')),
    changed_at timestamptz not null default now()
);
comment on table queue_controls is 'What operators decided about a queue. A queue without a row is open.';
comment on column queue_controls.queue is 'The name of the queue.';
comment on column queue_controls.mode is 'open: jobs are accepted and run; paused: accepted, but not started; draining: refused, while those that wait are run.';
comment on column queue_controls.changed_at is 'When an operator last changed it.';

alter table workers add column is_draining boolean not null default false;
comment on column workers.is_draining is 'An operator decided that this worker claims no more jobs.';

create table failed_attempts (
    job_id uuid not null references jobs (id) on delete cascade,
    attempt integer not null,
    worker text,
    started_at timestamptz,
    ended_at timestamptz not null default now(),
    error text not null,
    primary key (job_id, attempt)
);
comment on table failed_attempts is 'The attempts of jobs that failed, until the job is deleted. For operators.';
comment on column failed_attempts.job_id is 'The job.';
comment on column failed_attempts.attempt is 'The number of the claim.';
comment on column failed_attempts.worker is 'The worker that had claimed it.';
comment on column failed_attempts.started_at is 'When it was claimed.';
comment on column failed_attempts.ended_at is 'When its failure was recorded.';
comment on column failed_attempts.error is 'Why it failed. Never shown to callers.';

create index jobs_failed on jobs (id desc) where state = 'failed';

-- Dead jobs keep their uploads.
do $$
declare name text;
begin
    for name in
        select conname from pg_constraint where conrelid = 'jobs'::regclass and contype = 'c'
            and pg_get_constraintdef(oid) like '%state%upload IS NULL%'
    loop
        execute format('alter table jobs drop constraint %I', name);
    end loop;
end $$;
comment on column jobs.upload is 'The file as received, until the job ends; of a job that the service failed to process, until the row is deleted. Stored uncompressed: media is compressed already. Null if the file is outside the database.';
