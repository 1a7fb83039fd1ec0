alter table api_keys add column is_admin boolean not null default false;
comment on column api_keys.is_admin is 'The key also opens the operations page.';

create table ops_sessions (
    id_sha256 bytea primary key,
    key_id uuid not null references api_keys (id),
    created_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
);
comment on table ops_sessions is 'Who is signed in to the operations page, in every api process. Ended sessions are deleted at the next sign-in.';
comment on column ops_sessions.id_sha256 is 'SHA-256 of the session id, which only the cookie has.';
comment on column ops_sessions.key_id is 'The admin key. The session ends when the key is revoked.';
comment on column ops_sessions.created_at is 'When the operator signed in. The session ends 12 hours later.';
comment on column ops_sessions.seen_at is 'When it was last used, to a minute. Unused, it ends after an hour.';

-- Finds jobs by the id that a caller gave to its request. An id that the api made is a UUIDv7: it has the time of the request,
-- as the job's id has, so such jobs are found by their own ids and cost nothing here.
create index jobs_of_request on jobs (request_id) where request_id not like '________-____-7___-____-____________';
