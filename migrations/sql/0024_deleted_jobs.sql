create table deleted_jobs (
    id uuid primary key,
    account_id uuid not null,
    operation text not null,
    queue text not null,
    state text not null,
    created_at timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz not null,
    deleted_at timestamptz not null default now(),
    audio_s double precision
);
create index deleted_jobs_of_account on deleted_jobs (account_id, id desc);
create index deleted_jobs_ended on deleted_jobs (ended_at);
comment on table deleted_jobs is 'The times of jobs that were deleted before AKHAR_RETENTION_S had passed, so that counts of jobs stay right. Nothing of what the caller sent or got. Deleted when that time has passed.';
comment on column deleted_jobs.id is 'jobs.id.';
comment on column deleted_jobs.account_id is 'The account that owned the job.';
comment on column deleted_jobs.operation is 'The operation.';
comment on column deleted_jobs.queue is 'The queue.';
comment on column deleted_jobs.state is 'How the job ended: succeeded, failed or cancelled.';
comment on column deleted_jobs.created_at is 'When the api accepted it.';
comment on column deleted_jobs.started_at is 'When it was last claimed.';
comment on column deleted_jobs.ended_at is 'When it ended.';
comment on column deleted_jobs.deleted_at is 'When it was deleted.';
comment on column deleted_jobs.audio_s is 'Seconds of its recording that were transcribed; null for other operations.';

-- The key of a job's request is deleted with the job.
create index idempotency_keys_of_job on idempotency_keys (job_id);
