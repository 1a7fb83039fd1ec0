create table audio_reservations (
    job_id uuid primary key,
    account_id uuid not null,
    seconds double precision not null,
    reserved_at timestamptz not null default now()
);
create index audio_reservations_account on audio_reservations (account_id);
comment on table audio_reservations is 'The audio of jobs that are submitted for accounts with a quota of it. A row counts until its job ends, or for a minute if it has no job.';
comment on column audio_reservations.job_id is 'The job, which may not be inserted yet.';
comment on column audio_reservations.account_id is 'The account.';
comment on column audio_reservations.seconds is 'The greatest length that the recording can have, seconds.';
comment on column audio_reservations.reserved_at is 'When the job was about to be inserted.';
