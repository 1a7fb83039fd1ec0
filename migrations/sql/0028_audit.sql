alter table api_keys add column role text check (role in ('view', 'operate', 'admin'));
comment on column api_keys.role is 'What the key may do as an operator''s: view, operate or admin; null if it is only a caller''s.';
update api_keys set role = 'admin' where is_admin;
alter table api_keys drop column is_admin;

create table audit (
    id uuid primary key,
    at timestamptz not null default now(),
    action text not null,
    target text not null,
    n_changed bigint not null check (n_changed > 0),
    actor text not null,
    key_id uuid references api_keys (id),
    address text
);
create index audit_at on audit (at);
comment on table audit is 'What operators changed, one row for each action, written by the transaction of the change. Kept for 90 days. It has no secrets.';
comment on column audit.id is 'UUIDv7.';
comment on column audit.at is 'When the change began.';
comment on column audit.action is 'What was done, such as queue.pause.';
comment on column audit.target is 'On what: a queue, a worker, which jobs, or a key.';
comment on column audit.n_changed is 'How many of them were changed. It grows while the jobs of an action are changed in batches.';
comment on column audit.actor is 'Who: the name of the admin key, or of the user and the machine that ran the command.';
comment on column audit.key_id is 'The admin key; null for a command.';
comment on column audit.address is 'Where the request came from; null for a command.';
