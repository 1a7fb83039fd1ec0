-- The schema after all migrations, for readers. Made by `make schema` from a migrated database: do not edit.

-- Tells every api process to forget what it cached of keys and their accounts.
CREATE OR REPLACE FUNCTION public.announce_api_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    perform pg_notify('api_key_changed', new.id::text);
    return null;
end $function$;

-- Deletes what belongs to deleted jobs: artifacts, segments, failed attempts, webhooks and streams.
CREATE OR REPLACE FUNCTION public.delete_parts_of_jobs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- Whether an account is erased, or is being erased.
CREATE OR REPLACE FUNCTION public.is_erased(account uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
    select exists (select from audit where action = 'account.erase' and target = account::text)
$function$;

-- Whether the database was restored and no operator has let it go on. The setting akhar.restored is written into the data folder by the script that restores it, because nobody can write to the database before it has recovered.
CREATE OR REPLACE FUNCTION public.is_quiet()
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
    select exists (select from restores where released_at is null)
        or coalesce(current_setting('akhar.restored', true), '') not in (select '' union all select name from restores)
$function$;

-- Whether a row may be written for an account. Until the transaction ends, the erasure of the account does not begin.
CREATE OR REPLACE FUNCTION public.may_write(account uuid)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
    perform pg_advisory_xact_lock_shared(hashtext('erasure'), uuid_hash(account));
    return not is_erased(account);
end $function$;

-- The turns of new jobs, in the order of the arrays: each job of an account gets the turn after its last waiting one, but none that was claimed already. Null for an account that is erased.
CREATE OR REPLACE FUNCTION public.next_turns(queues text[], priorities smallint[], accounts uuid[])
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
    perform pg_advisory_xact_lock(queue_key, account_key) from (
        select distinct hashtext(queue) as queue_key, uuid_hash(account) as account_key
        from unnest(queues, accounts) as new (queue, account) order by queue_key, account_key) as keys;
    return (
        with new as materialized (
            select queue, priority, account, array_agg(nth order by nth) as nths, coalesce((
                select c.turn from claimed_turns c where c.queue = new.queue and c.priority = new.priority
                order by c.turn desc limit 1), 0) as claimed
            from unnest(queues, priorities, accounts) with ordinality as new (queue, priority, account, nth)
            group by queue, priority, account),
        of_account as materialized ( -- looked up once for each account
            select nths, case when not is_erased(new.account) then coalesce((
                select j.turn from jobs j
                where j.queue = new.queue and j.account_id = new.account and j.priority = new.priority
                    and coalesce(j.ended_at, 'infinity') = 'infinity' and j.turn > new.claimed
                order by j.turn desc limit 1), new.claimed) end as last_turn
            from new)
        select array_agg(last_turn + n order by nth)
        from of_account cross join unnest(nths) with ordinality as given (nth, n));
end $function$;

-- The modes that the queues have now. A queue whose time is over is open, also before a process has written that.
CREATE OR REPLACE FUNCTION public.queue_modes()
 RETURNS SETOF queue_controls
 LANGUAGE sql
 STABLE
AS $function$
    select queue, mode, changed_at, why, until from queue_controls where until is null or until > now()
    union all
    select queue, 'open', until, null, null from queue_controls where until <= now()
$function$;

-- The jobs that run. None has a higher turn than the highest that was claimed, so few waiting jobs are read to find them.
CREATE OR REPLACE FUNCTION public.running_jobs()
 RETURNS SETOF jobs
 LANGUAGE sql
 STABLE
AS $function$
    select j.* from (values ('quick', 1::int2), ('quick', 0::int2), ('speech', 1::int2), ('speech', 0::int2),
        ('live', 1::int2), ('live', 0::int2)) as claimed (queue, priority)
    join jobs j on j.queue = claimed.queue and j.priority = claimed.priority and j.ended_at is null and j.state = 'running'
        and j.turn <= coalesce((
            select c.turn from claimed_turns c where c.queue = claimed.queue and c.priority = claimed.priority
            order by c.turn desc limit 1), 0)
$function$;

-- Who owns jobs. A row is deleted only when the account is erased, after its jobs.
create table accounts (
    id uuid not null, -- UUIDv7; equal to api_keys.id where the key was made before accounts existed.
    name text not null, -- The operator's name for it.
    created_at timestamp with time zone not null default now(), -- When it was made.
    requests_per_minute integer, -- The requests that each api process accepts of it in a minute; null for any number.
    max_queued integer, -- The jobs that it may have waiting in each queue; null for as many as its share of the queue.
    audio_minutes_per_day integer, -- The minutes of recordings that may be transcribed for it in a day (UTC); null for any number.
    webhook_url text, -- The webhook of jobs whose request names none; null if they have none.
    webhook_secret bytea, -- Signs the webhooks of its jobs; null until the operator makes one. Signing needs the secret itself, so no hash is stored.
    former_webhook_secret bytea, -- The secret before the last rotation.
    former_webhook_secret_until timestamp with time zone, -- Until then webhooks are also signed with the former secret.
    retain_s integer, -- How long its jobs are kept after their ends, seconds, if the request does not say so; null for as long as the server keeps jobs.
    max_retain_s integer, -- The most that its requests may ask for, seconds; null for as long as the server keeps jobs.
    stored_mb integer, -- The megabytes of its jobs that may be stored; null for as many as the server allows.
    constraint accounts_pkey PRIMARY KEY (id),
    constraint accounts_audio_minutes_per_day_check CHECK ((audio_minutes_per_day > 0)),
    constraint accounts_max_queued_check CHECK ((max_queued > 0)),
    constraint accounts_max_retain_s_check CHECK ((max_retain_s >= 0)),
    constraint accounts_requests_per_minute_check CHECK ((requests_per_minute > 0)),
    constraint accounts_retain_s_check CHECK ((retain_s >= 0)),
    constraint accounts_stored_mb_check CHECK ((stored_mb > 0)),
    constraint accounts_webhook_secret_check CHECK (((octet_length(webhook_secret) >= 24) AND (octet_length(webhook_secret) <= 64)))
);
CREATE TRIGGER announce_account AFTER UPDATE ON public.accounts FOR EACH ROW EXECUTE FUNCTION announce_api_key();

-- Keys of accounts. A row is deleted only when its account is erased.
create table api_keys (
    id uuid not null, -- UUIDv7.
    name text not null, -- The operator's name for it; a rotated key keeps it.
    prefix text not null, -- The 8 characters after ak_: how logs and people name the key.
    secret_sha256 bytea not null, -- SHA-256 of the whole key as presented. The key itself is stored nowhere.
    created_at timestamp with time zone not null default now(), -- When it was made.
    revoked_at timestamp with time zone, -- When it stopped working; null while it works.
    account_id uuid not null, -- The account it belongs to.
    last_used_at timestamp with time zone, -- When a request last had it, to a minute; null if none had.
    role text, -- What the key may do as an operator's: view, operate or admin; null if it is only a caller's.
    expires_at timestamp with time zone, -- When it stops working, if that was set; null if it works until it is revoked.
    replaced_by uuid, -- The key that rotation made in its place; null if it was not rotated.
    constraint api_keys_prefix_key UNIQUE (prefix),
    constraint api_keys_secret_sha256_key UNIQUE (secret_sha256),
    constraint api_keys_pkey PRIMARY KEY (id),
    constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
    constraint api_keys_replaced_by_fkey FOREIGN KEY (replaced_by) REFERENCES api_keys(id),
    constraint api_keys_role_check CHECK ((role = ANY (ARRAY['view'::text, 'operate'::text, 'admin'::text]))),
    constraint api_keys_secret_sha256_check CHECK ((octet_length(secret_sha256) = 32))
);
CREATE TRIGGER announce_api_key AFTER UPDATE OF revoked_at, expires_at ON public.api_keys FOR EACH ROW EXECUTE FUNCTION announce_api_key();

-- The bulk of an outcome, ready to be sent, as long as its job is kept.
create table artifacts (
    job_id uuid not null, -- The job it belongs to.
    name text not null, -- What it is to its outcome: strokes (points as differences), points (JSON text that has no such form) or image (a PNG).
    bytes bytea not null, -- The bytes. Postgres does not compress them: that costs more time than writing.
    constraint artifacts_pkey PRIMARY KEY (job_id, name)
);

-- The audio of jobs that are submitted for accounts with a quota of it. A row counts until its job ends, or for a minute if it has no job.
create table audio_reservations (
    job_id uuid not null, -- The job, which may not be inserted yet.
    account_id uuid not null, -- The account.
    seconds double precision not null, -- The greatest length that the recording can have, seconds.
    reserved_at timestamp with time zone not null default now(), -- When the job was about to be inserted.
    constraint audio_reservations_pkey PRIMARY KEY (job_id)
);
CREATE INDEX audio_reservations_account ON public.audio_reservations USING btree (account_id);

-- How much audio was transcribed for each account. Days older than a month are deleted.
create table audio_usage (
    account_id uuid not null, -- The account.
    day date not null, -- The day in UTC on which the jobs ended.
    seconds double precision not null, -- The length of the recordings together, seconds.
    constraint audio_usage_pkey PRIMARY KEY (account_id, day)
);

-- What operators changed, one row for each action, written by the transaction of the change. Kept for 90 days. It has no secrets.
create table audit (
    id uuid not null, -- UUIDv7.
    at timestamp with time zone not null default now(), -- When the change began.
    action text not null, -- What was done, such as queue.pause.
    target text not null, -- On what: a queue, a worker, which jobs, or a key.
    n_changed bigint not null, -- How many of them were changed. It grows while the jobs of an action are changed in batches.
    actor text not null, -- Who: the name of the admin key, or of the user and the machine that ran the command.
    key_id uuid, -- The admin key; null for a command.
    address text, -- Where the request came from; null for a command.
    constraint audit_pkey PRIMARY KEY (id),
    constraint audit_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
    constraint audit_n_changed_check CHECK ((n_changed > 0))
);
CREATE INDEX audit_at ON public.audit USING btree (at);
CREATE INDEX audit_erased ON public.audit USING btree (target) WHERE (action = 'account.erase'::text);

-- How far the claims of a queue have come: the highest turn of each claim. A sweep deletes all but the highest of a queue and priority. Claims insert rows, because an update of one row would make them wait for each other.
create table claimed_turns (
    queue text not null, -- The name of the queue.
    priority smallint not null, -- The priority of the jobs: each has turns of its own.
    turn bigint not null -- The highest turn of the jobs that were claimed.
);
CREATE INDEX claimed_turns_highest ON public.claimed_turns USING btree (queue, priority, turn);

-- The times that the database's clock skipped when it jumped ahead. They do not count as time that has passed. Several workers may record the same jump.
create table clock_jumps (
    jumped_from timestamp with time zone not null, -- The last time that the worker had seen before the jump.
    jumped_to timestamp with time zone not null, -- The time after the jump, less what had really passed.
    constraint clock_jumps_pkey PRIMARY KEY (jumped_from, jumped_to)
);

-- The times of jobs that were deleted before AKHAR_RETENTION_S had passed, so that counts of jobs stay right. Nothing of what the caller sent or got. Deleted when that time has passed.
create table deleted_jobs (
    id uuid not null, -- jobs.id.
    account_id uuid not null, -- The account that owned the job.
    operation text not null, -- The operation.
    queue text not null, -- The queue.
    state text not null, -- How the job ended: succeeded, failed or cancelled.
    created_at timestamp with time zone not null, -- When the api accepted it.
    started_at timestamp with time zone, -- When it was last claimed.
    ended_at timestamp with time zone not null, -- When it ended.
    deleted_at timestamp with time zone not null default now(), -- When it was deleted.
    audio_s double precision, -- Seconds of its recording that were transcribed; null for other operations.
    constraint deleted_jobs_pkey PRIMARY KEY (id)
);
CREATE INDEX deleted_jobs_ended ON public.deleted_jobs USING btree (ended_at);
CREATE INDEX deleted_jobs_of_account ON public.deleted_jobs USING btree (account_id, id DESC);

-- The attempts of jobs that failed, until the job is deleted. For operators.
create table failed_attempts (
    job_id uuid not null, -- The job.
    attempt integer not null, -- The number of the claim.
    worker text, -- The worker that had claimed it.
    started_at timestamp with time zone, -- When it was claimed.
    ended_at timestamp with time zone not null default now(), -- When its failure was recorded.
    error text not null, -- Why it failed. Never shown to callers.
    constraint failed_attempts_pkey PRIMARY KEY (job_id, attempt)
);
CREATE INDEX failed_attempts_started ON public.failed_attempts USING btree (started_at);

-- The Idempotency-Key headers of the last 24 hours, each with the job that its request made.
create table idempotency_keys (
    account_id uuid not null, -- The account of the request. Another account's equal key is another key.
    key text not null, -- The value of the header.
    fingerprint bytea not null, -- SHA-256 of the operation, its parameters and the file.
    job_id uuid not null, -- The job. Its row is written after this one, or again by a later request with the key.
    created_at timestamp with time zone not null default now(), -- When the first request with the key came. 24 hours later the key is free again.
    constraint idempotency_keys_pkey PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_keys_expired ON public.idempotency_keys USING btree (created_at);
CREATE INDEX idempotency_keys_of_job ON public.idempotency_keys USING btree (job_id);

-- The groups of jobs. Inserted with the first job. A row whose group has ended and has no jobs any more is deleted by a sweep.
create table job_groups (
    account_id uuid not null, -- The account that owns the jobs.
    name text not null, -- The name that requests gave the group: jobs.group_name.
    created_at timestamp with time zone not null default now(), -- When the first of the jobs was accepted.
    webhook_url text, -- Where its end is announced: the URL that one of its jobs named last. Null: at the URL of the account, if it has one.
    ended_at timestamp with time zone, -- When a look found that none of its jobs waits or runs; null while it is open. A new job opens it again.
    constraint job_groups_pkey PRIMARY KEY (account_id, name)
);
CREATE INDEX job_groups_open ON public.job_groups USING btree (account_id, name) WHERE (ended_at IS NULL);

-- One row per accepted request: the truth about it, and the queue that workers claim from.
create table jobs (
    id uuid not null, -- UUIDv7, made by the api.
    account_id uuid not null, -- The account that owns the job. No foreign key: its check would lock one hot row for every job of an account.
    operation text not null, -- The operation as its path names it, such as digit-recognition.
    queue text not null, -- quick or speech.
    priority smallint not null, -- 1: a caller holds a connection open for it; 0: asynchronous, and claimed after those.
    parameters jsonb not null, -- The request's parameters as the api parsed them.
    state text not null default 'queued'::text, -- queued -> running -> succeeded | failed; running -> queued on retry; queued -> cancelled.
    attempt integer not null default 0, -- How often it has been claimed; the fence every later write must match.
    max_attempts integer not null, -- Claims allowed before the job fails for good.
    worker text, -- workers.name of the one that runs it; null unless running.
    request_id text not null, -- X-Request-Id of the request, carried into every log line about the job.
    traceparent text, -- W3C traceparent of the request, if it brought one.
    created_at timestamp with time zone not null default now(), -- When the api accepted it.
    started_at timestamp with time zone, -- When it was last claimed.
    ended_at timestamp with time zone, -- When it reached a final state; retention counts from here.
    last_error text, -- Why the last attempt failed, for operators; never sent to a caller.
    outcome jsonb, -- What the caller gets: predictions, a rejection, or a failure without its cause.
    decode_us integer, -- Microseconds the last attempt spent decoding and preparing its input.
    infer_us integer, -- Microseconds the last attempt spent in its model, waiting for a batch included.
    transcribed_s double precision, -- Seconds of its recording transcribed so far by the last attempt; null for other operations.
    run_at timestamp with time zone not null default now(), -- Not claimed before this time; later than created_at after an attempt that failed.
    acknowledged boolean not null default false, -- Its caller has been told of it by a 202: from then on every change of it is flushed to disk before anybody hears of it.
    media_type text, -- What the first bytes of the upload say it is, such as image/png; null without an upload.
    upload bytea, -- The file as received, until the job ends; of a job that the service failed to process, until the row is deleted. Stored uncompressed: media is compressed already. Null if the file is outside the database.
    turn bigint not null default 0, -- Orders the waiting jobs of a queue and priority. next_turns gives it.
    webhook_url text, -- Where its end is announced; null if nowhere. Never changes.
    upload_url text, -- The object outside the database that has the file, such as s3://bucket/prefix/name; null if the file is in the row. Kept when the job ends, though the object is deleted then.
    upload_bytes bigint, -- The size of that object, bytes.
    upload_sha256 bytea, -- The SHA-256 of that object; null if the caller has written it.
    retain_s integer, -- How long it is kept after its end, seconds; 0 until its outcome is delivered; null for as long as the server keeps jobs.
    group_name text, -- The name of its group among those of its account (job_groups); null without a group. Never changes.
    labels jsonb, -- The labels that its request gave it, a JSON object of texts; null without labels. Never changes.
    recording_url text, -- Where a worker fetches the recording, until the job ends; of a job that the service failed to process, until the row is deleted. Null if the caller has sent it. Its query can be a secret.
    deaths smallint not null default 0, -- How often its worker died or lost it. From the second time on it is a suspect: it may be what kills the workers.
    ended_as text generated always as (
CASE
    WHEN (state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) THEN state
    ELSE NULL::text
END) stored, -- The state of a job that has ended; null before. For indexes, because none may have a column that a claim changes.
    progressed_at timestamp with time zone, -- When the last attempt last progressed; null, or a time before started_at, if it has not.
    constraint jobs_pkey PRIMARY KEY (id)
) with (toast_tuple_target=4080, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.2, autovacuum_analyze_scale_factor=0.1, autovacuum_vacuum_cost_delay=0, fillfactor=45);
CREATE INDEX jobs_claim ON public.jobs USING btree (queue, priority DESC, turn, run_at, id) WHERE (ended_at IS NULL);
CREATE INDEX jobs_ended ON public.jobs USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX jobs_failed ON public.jobs USING btree (id DESC) WHERE (ended_as = 'failed'::text);
CREATE INDEX jobs_of_account ON public.jobs USING btree (account_id, id DESC);
CREATE INDEX jobs_of_group ON public.jobs USING btree (group_name, account_id, id DESC) WHERE (group_name IS NOT NULL);
CREATE INDEX jobs_of_group_by_state ON public.jobs USING btree (account_id, group_name, ended_as, ended_at) WHERE (group_name IS NOT NULL);
CREATE INDEX jobs_of_label ON public.jobs USING gin (labels jsonb_path_ops) WHERE (labels IS NOT NULL);
CREATE INDEX jobs_of_request ON public.jobs USING btree (request_id) WHERE (request_id !~~ '________-____-7___-____-____________'::text);
CREATE INDEX jobs_retained ON public.jobs USING btree (retain_s, ended_at) WHERE ((retain_s > 0) AND (ended_at IS NOT NULL));
CREATE INDEX jobs_suspects ON public.jobs USING btree (queue, priority DESC, turn, run_at, id) WHERE ((deaths >= 2) AND (ended_at IS NULL));
CREATE INDEX jobs_unended_of_account ON public.jobs USING btree (queue, account_id, priority, turn) WHERE (COALESCE(ended_at, 'infinity'::timestamp with time zone) = 'infinity'::timestamp with time zone);
CREATE INDEX jobs_without_answer_of_account ON public.jobs USING btree (account_id, ended_as, id DESC) WHERE (ended_as = ANY (ARRAY['failed'::text, 'cancelled'::text]));
CREATE TRIGGER delete_parts AFTER DELETE ON public.jobs REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION delete_parts_of_jobs();

-- Who is signed in to the operations page, in every api process. Ended sessions are deleted at the next sign-in.
create table ops_sessions (
    id_sha256 bytea not null, -- SHA-256 of the session id, which only the cookie has.
    key_id uuid not null, -- The admin key. The session ends when the key is revoked.
    created_at timestamp with time zone not null default now(), -- When the operator signed in. The session ends 12 hours later.
    seen_at timestamp with time zone not null default now(), -- When it was last used, to a minute. Unused, it ends after an hour.
    constraint ops_sessions_pkey PRIMARY KEY (id_sha256),
    constraint ops_sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id)
);

-- What operators decided about a queue. A queue without a row is open.
create table queue_controls (
    queue text not null, -- The name of the queue.
    mode text not null, -- open: jobs are accepted and run; paused: accepted, but not started; draining: refused, while those that wait are run.
    changed_at timestamp with time zone not null default now(), -- When an operator last changed it.
    why text, -- Why an operator set this mode, in a sentence; null if nothing was said.
    until timestamp with time zone, -- When the queue is open again; null if an operator opens it.
    constraint queue_controls_pkey PRIMARY KEY (queue),
    constraint queue_controls_mode_check CHECK ((mode = ANY (ARRAY['open'::text, 'paused'::text, 'draining'::text])))
);

-- What happened in each queue in each minute of the last day. A minute in which no process ran has no row.
create table queue_minutes (
    minute timestamp with time zone not null, -- The start of the minute.
    queue text not null, -- The name of the queue.
    n_started integer not null, -- Attempts that began.
    n_ended integer not null, -- Jobs that ended, in any state.
    n_failed integer not null, -- Those of them that failed.
    oldest_wait_ms bigint not null, -- The longest wait of a job that was claimed for the first time, or that still waited at the end of the minute; 0 without one.
    audio_s double precision not null, -- Seconds of the recordings whose jobs ended.
    constraint queue_minutes_pkey PRIMARY KEY (minute, queue)
);

-- The objects that callers may write to the bucket by presigned URLs, each for one job.
create table reserved_uploads (
    id uuid not null, -- The id of the upload.
    account_id uuid not null, -- The account that may use it. The object is called after both: id.account_id.
    n_bytes bigint not null, -- The size that the object must have.
    job_id uuid, -- Its job, from the statement on that submits it. Then the object is needed for as long as the job is.
    created_at timestamp with time zone not null default now(), -- When it was reserved. A day later the row and the object are deleted if no job needs them.
    constraint reserved_uploads_pkey PRIMARY KEY (id)
);
CREATE INDEX reserved_uploads_of_account ON public.reserved_uploads USING btree (account_id);

-- The restores of the database that are known. While one is not released, no job starts, no webhook is sent and nothing old is deleted.
create table restores (
    name text not null, -- What the setting akhar.restored says in a data folder that was restored, or a random id.
    restored_at timestamp with time zone not null default now(), -- When it was recorded.
    released_at timestamp with time zone, -- When an operator let the database go on; null before.
    constraint restores_pkey PRIMARY KEY (name)
);

-- Which programs may run on this schema. One row.
create table schema_compatibility (
    only_row boolean not null default true, -- Always true: the table has one row.
    oldest_version bigint not null, -- A program may run if it knows the migration with this version, also if it does not know later ones. A migration that older programs cannot run with raises it.
    constraint schema_compatibility_pkey PRIMARY KEY (only_row),
    constraint schema_compatibility_only_row_check CHECK (only_row)
);

-- The finished segments of recordings that are being transcribed. Deleted when the attempt ends: then the outcome has them.
create table segments (
    job_id uuid not null, -- The job it belongs to.
    attempt integer not null, -- The attempt that transcribed it.
    n integer not null, -- Its number within the recording, from 1.
    start_s double precision not null, -- Its start, seconds from the start of the recording.
    end_s double precision not null, -- Its end, seconds from the start of the recording.
    text text not null, -- What is said in it.
    channel smallint, -- The channel that it is said in, from 1; null if the channels are mixed.
    constraint segments_pkey PRIMARY KEY (job_id, attempt, n)
);

-- The input of jobs that arrives while they run, from the part on that the next attempt would have to read. Deleted with the job, and when it ends unless it is dead.
create table stream_inputs (
    job_id uuid not null, -- The job it belongs to.
    n bigint not null, -- Its number, from 1 without gaps.
    bytes bytea not null, -- The bytes as they were sent; their format stands in the parameters of the job. Stored uncompressed.
    mark jsonb, -- What the caller asks for behind these bytes; null for nothing.
    constraint stream_inputs_pkey PRIMARY KEY (job_id, n)
);

-- What jobs with such an input have said so far. Nothing is taken back, also by later attempts. Deleted with the job.
create table stream_outputs (
    job_id uuid not null, -- The job it belongs to.
    n bigint not null, -- Its number, from 1 without gaps, through all attempts.
    event jsonb not null, -- What it said, as its operation writes it.
    constraint stream_outputs_pkey PRIMARY KEY (job_id, n)
);

-- The jobs with such an input, from its first part on. Deleted with the job.
create table streams (
    job_id uuid not null, -- The job.
    n_read bigint not null default 0, -- Parts of the input up to this number are read and deleted.
    checkpoint jsonb, -- What the next attempt has to know of them; null if nothing is read.
    preview jsonb, -- What the job would say next and may still change; null for nothing.
    n_bytes bigint not null default 0, -- The bytes of all parts of the input that were stored.
    writer integer not null default 0, -- Which connection may append input: the number of those before it.
    constraint streams_pkey PRIMARY KEY (job_id)
);

-- Short-lived keys for web pages. Expired ones are deleted when their key gets another.
create table tokens (
    prefix text not null, -- The 8 characters after at_: how logs name the token.
    key_id uuid not null, -- The key that asked for it. The token stops working when the key is revoked.
    secret_sha256 bytea not null, -- SHA-256 of the whole token as presented. The token itself is stored nowhere.
    operation text not null, -- The only operation that it may use.
    origin text not null, -- The origin of the pages that may use it.
    expires_at timestamp with time zone not null, -- When it stops working.
    constraint tokens_pkey PRIMARY KEY (prefix),
    constraint tokens_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
    constraint tokens_secret_sha256_check CHECK ((octet_length(secret_sha256) = 32))
);
CREATE INDEX tokens_of_key ON public.tokens USING btree (key_id);

-- The webhooks of jobs and groups that have ended, written by the statement that ends the job or marks the group as ended. Deleted with the job or the group.
create table webhook_deliveries (
    job_id uuid, -- The job that has ended; null for a group. A job that is retried ends again, and its row is due again.
    account_id uuid not null, -- The account that owns the job or the group, whose secret signs the webhook.
    url text not null, -- Where it is sent: jobs.webhook_url, or job_groups.webhook_url or that of the account.
    host text not null generated always as (split_part(url, '/'::text, 3)) stored, -- Host and port of the URL. Each has only so many attempts at a time.
    state text not null default 'pending'::text, -- pending -> delivered | dead; dead or delivered -> pending by command.
    attempt integer not null default 0, -- How often it was leased. The write of an attempt's result names it, so that a late one changes nothing.
    due_at timestamp with time zone not null default now(), -- Not attempted before this time. An attempt moves it to the end of its lease, so that another process repeats an attempt whose process died.
    created_at timestamp with time zone not null default now(), -- When the job or the group ended.
    ended_at timestamp with time zone, -- When it was delivered or given up.
    last_error text, -- Why the last attempt failed.
    group_name text, -- The group that has ended; null for a job. A group that is opened again and ends again has its row replaced.
    group_end jsonb, -- The group with its counts as the look that found its end left it.
    group_end_id uuid, -- The webhook-id of a group's end, new at each.
    id uuid not null generated always as (COALESCE(job_id, group_end_id)) stored, -- The webhook-id of every attempt: the job, or the end of the group.
    constraint webhook_deliveries_job_id_key UNIQUE (job_id),
    constraint webhook_deliveries_pkey PRIMARY KEY (id),
    constraint webhook_deliveries_account_id_group_name_fkey FOREIGN KEY (account_id, group_name) REFERENCES job_groups(account_id, name) ON DELETE CASCADE,
    constraint webhook_deliveries_check CHECK (((state = 'pending'::text) = (ended_at IS NULL))),
    constraint webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text]))),
    constraint webhook_deliveries_subject_check CHECK ((((job_id IS NULL) = (group_name IS NOT NULL)) AND ((group_name IS NULL) = (group_end IS NULL)) AND ((group_name IS NULL) = (group_end_id IS NULL))))
);
CREATE INDEX webhook_deliveries_dead ON public.webhook_deliveries USING btree (id) WHERE (state = 'dead'::text);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (due_at) WHERE (state = 'pending'::text);
CREATE UNIQUE INDEX webhook_deliveries_of_group ON public.webhook_deliveries USING btree (account_id, group_name) WHERE (group_name IS NOT NULL);

-- Worker processes that are alive, by their own word.
create table workers (
    name text not null, -- host-pid-ulid, new at every start.
    started_at timestamp with time zone not null default now(), -- When it started.
    seen_at timestamp with time zone not null default now(), -- Its last heartbeat, one a second; silence of 3 seconds frees its jobs.
    is_draining boolean not null default false, -- An operator decided that this worker claims no more jobs.
    models jsonb not null default '[]'::jsonb, -- The models that it has loaded, one for each operation and language, with the version of each. Empty for a worker of a version that does not say so.
    models_since timestamp with time zone not null default now(), -- When it loaded them.
    program text, -- The version of akhar that it runs; null if it is older than this column.
    constraint workers_pkey PRIMARY KEY (name)
);
