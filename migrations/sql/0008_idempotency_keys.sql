create table idempotency_keys (
    account_id uuid not null,
    key text not null,
    fingerprint bytea not null,
    job_id uuid not null,
    created_at timestamptz not null default now(),
    primary key (account_id, key)
);
comment on table idempotency_keys is 'The Idempotency-Key headers of the last 24 hours, each with the job that its request made.';
comment on column idempotency_keys.account_id is 'The account of the request. Another account''s equal key is another key.';
comment on column idempotency_keys.key is 'The value of the header.';
comment on column idempotency_keys.fingerprint is 'SHA-256 of the operation, its parameters and the file.';
comment on column idempotency_keys.job_id is 'The job. Its row is written after this one, or again by a later request with the key.';
create index idempotency_keys_expired on idempotency_keys (created_at);
comment on column idempotency_keys.created_at is 'When the first request with the key came. 24 hours later the key is free again.';
