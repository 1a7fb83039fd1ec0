create table accounts (
    id uuid primary key,
    name text not null,
    created_at timestamptz not null default now()
);
comment on table accounts is 'Who owns jobs. A row is never deleted, so a job always names its owner.';
comment on column accounts.id is 'UUIDv7; equal to api_keys.id where the key was made before accounts existed.';
comment on column accounts.name is 'The operator''s name for it.';
comment on column accounts.created_at is 'When it was made.';

-- Until now a job named the key that made it. Each such key gets an account of the same id, so that the ids stored
-- with jobs name accounts without any job being changed.
insert into accounts (id, name, created_at) select id, name, created_at from api_keys;

alter table api_keys add column account_id uuid references accounts (id);
update api_keys set account_id = id;
alter table api_keys alter column account_id set not null;
comment on table api_keys is 'Keys of accounts. A row is never deleted.';
comment on column api_keys.id is 'UUIDv7.';
comment on column api_keys.account_id is 'The account it belongs to.';
comment on column api_keys.name is 'The operator''s name for it; a rotated key keeps it.';
