create table api_keys (
    id uuid primary key,
    name text not null,
    prefix text not null unique,
    secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
    created_at timestamptz not null default now(),
    revoked_at timestamptz
);
comment on table api_keys is 'Who may call. A row is never deleted, so a job always names its caller.';
comment on column api_keys.id is 'UUIDv7; jobs.caller_id points here.';
comment on column api_keys.name is 'What the operator called it.';
comment on column api_keys.prefix is 'The 8 characters after ak_: how logs and people name the key.';
comment on column api_keys.secret_sha256 is 'SHA-256 of the whole key as presented. The key itself is stored nowhere.';
comment on column api_keys.created_at is 'When it was made.';
comment on column api_keys.revoked_at is 'When it stopped working; null while it works.';

create function announce_api_key() returns trigger language plpgsql as $$
begin
    perform pg_notify('api_key_changed', new.id::text);
    return null;
end $$;
comment on function announce_api_key is 'Tells every api process to forget what it cached of a key.';
create trigger announce_api_key after update on api_keys
    for each row execute function announce_api_key();

create table jobs (
    id uuid primary key,
    caller_id uuid not null,
    operation text not null,
    queue text not null,
    priority smallint not null check (priority in (0, 1)),
    parameters jsonb not null,
    state text not null default 'queued'
        check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    attempt integer not null default 0 check (attempt between 0 and max_attempts),
    max_attempts integer not null check (max_attempts > 0),
    worker text,
    request_id text not null,
    traceparent text,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    ended_at timestamptz,
    last_error text,
    outcome jsonb,
    decode_us integer,
    infer_us integer,
    check ((state = 'running') = (worker is not null)),
    check ((state in ('succeeded', 'failed', 'cancelled')) = (ended_at is not null)),
    check ((state in ('succeeded', 'failed')) = (outcome is not null))
);
comment on table jobs is 'One row per accepted request: the truth about it. apalis.jobs holds only delivery tickets.';
comment on column jobs.id is 'UUIDv7, made by the api.';
comment on column jobs.caller_id is 'api_keys.id. No foreign key: its check would lock one hot row for every job of a key.';
comment on column jobs.operation is 'The operation as its path names it, such as digit-recognition.';
comment on column jobs.queue is 'quick or speech.';
comment on column jobs.priority is '1: a caller holds a connection open for it; 0: nobody does, and it yields.';
comment on column jobs.parameters is 'The request''s parameters as the api parsed them.';
comment on column jobs.state is 'queued -> running -> succeeded | failed; running -> queued on retry; queued -> cancelled.';
comment on column jobs.attempt is 'How often it has been claimed; the fence every later write must match.';
comment on column jobs.max_attempts is 'Claims allowed before the job fails for good.';
comment on column jobs.worker is 'workers.name of the one that runs it; null unless running.';
comment on column jobs.request_id is 'X-Request-Id of the request, carried into every log line about the job.';
comment on column jobs.traceparent is 'W3C traceparent of the request, if it brought one.';
comment on column jobs.created_at is 'When the api accepted it.';
comment on column jobs.started_at is 'When it was last claimed.';
comment on column jobs.ended_at is 'When it reached a final state; retention counts from here.';
comment on column jobs.last_error is 'Why the last attempt failed, for operators; never sent to a caller.';
comment on column jobs.outcome is 'What the caller gets: predictions, a rejection, or a failure without its cause.';
comment on column jobs.decode_us is 'Microseconds the last attempt spent decoding and preparing its input.';
comment on column jobs.infer_us is 'Microseconds the last attempt spent in its model, waiting for a batch included.';

create index jobs_waiting on jobs (queue) where state = 'queued';
create index jobs_running on jobs (worker) where state = 'running';
create index jobs_ended on jobs (ended_at) where ended_at is not null;

create table uploads (
    job_id uuid primary key references jobs (id) on delete cascade,
    media_type text not null,
    bytes bytea not null
);
alter table uploads alter column bytes set storage external;
alter table uploads set (toast_tuple_target = 8160);
comment on table uploads is 'What a caller sent, until its job ends. Stored uncompressed (media is compressed already), small files in the row itself.';
comment on column uploads.job_id is 'The job it belongs to.';
comment on column uploads.media_type is 'What its first bytes say it is, such as image/png.';
comment on column uploads.bytes is 'The file as received.';

create table workers (
    name text primary key,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
);
comment on table workers is 'Worker processes that are alive, by their own word.';
comment on column workers.name is 'host-pid-ulid, new at every start.';
comment on column workers.started_at is 'When it started.';
comment on column workers.seen_at is 'Its last heartbeat, one a second; silence of 3 seconds frees its jobs.';
