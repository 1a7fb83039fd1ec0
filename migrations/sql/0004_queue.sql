-- The jobs table becomes the queue; the tables of the earlier queue go. Waiting jobs are carried over.

-- A process of an earlier version would go on writing to the tables that go. Each of them holds a connection
-- with one of these names; the processes of this version use other names.
do $$
declare n integer;
begin
    select count(*) into n from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
        and application_name in ('akhar', 'akhar-tickets', 'akhar-listen');
    if n > 0 then
        raise exception 'cannot migrate the queue: % connections of akhar processes of an earlier version are open', n
            using hint = 'Stop every akhar serve, api and worker of the earlier version, then migrate again. No job is lost.';
    end if;
end $$;

alter table jobs rename column caller_id to account_id;
comment on column jobs.account_id is 'The account that owns the job. No foreign key: its check would lock one hot row for every job of an account.';

alter table jobs
    add column run_at timestamptz not null default now(),
    add column acknowledged boolean not null default false,
    add column media_type text,
    add column upload bytea,
    add check ((media_type is null) = (upload is null)),
    add check (state in ('queued', 'running') or upload is null);
alter table jobs alter column upload set storage external;
-- Small uploads stay in the row. A job's row is written three times within milliseconds, so pages are packed
-- loosely and vacuumed early.
alter table jobs set (
    toast_tuple_target = 4080, fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.1);
comment on table jobs is 'One row per accepted request: the truth about it, and the queue that workers claim from.';
comment on column jobs.run_at is 'Not claimed before this time; later than created_at after an attempt that failed.';
comment on column jobs.acknowledged is 'Its caller has been told of it by a 202: from then on every change of it is flushed to disk before anybody hears of it.';
comment on column jobs.media_type is 'What the first bytes of the upload say it is, such as image/png; null without an upload.';
comment on column jobs.upload is 'The file as received, until the job ends. Stored uncompressed: media is compressed already.';
comment on column jobs.priority is '1: a caller holds a connection open for it; 0: asynchronous, and claimed after those.';

update jobs j set media_type = u.media_type, upload = u.bytes from uploads u
where u.job_id = j.id and j.state in ('queued', 'running');
update jobs set acknowledged = true where priority = 0;
drop table uploads;

-- When a retry of the earlier queue was due.
do $$
begin
    if to_regclass('apalis.jobs') is not null then
        execute $carry$
            update jobs j set run_at = t.run_at from apalis.jobs t
            where j.state = 'queued' and t.status = 'Pending' and t.run_at > now()
                and t.job = convert_to(to_json(j.id::text)::text, 'UTF8')
        $carry$;
    end if;
end $$;
drop schema if exists apalis cascade;

drop index jobs_waiting;
create index jobs_claim on jobs (queue, priority desc, run_at, id) where state = 'queued';

-- Postgres parses every check's expression anew for each statement that writes a row. The statements of this
-- project's queue are the only ones that change states, and tests hold them to these rules.
do $$
declare name text;
begin
    for name in select conname from pg_constraint where conrelid = 'jobs'::regclass and contype = 'c' loop
        execute format('alter table jobs drop constraint %I', name);
    end loop;
end $$;
