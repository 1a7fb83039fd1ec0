-- The outcome of a job can be sent to a URL.
alter table jobs add column webhook_url text;
comment on column jobs.webhook_url is 'Where its end is announced; null if nowhere. Never changes.';

alter table accounts
    add column webhook_url text,
    add column webhook_secret bytea check (octet_length(webhook_secret) between 24 and 64),
    add column former_webhook_secret bytea,
    add column former_webhook_secret_until timestamptz;
comment on column accounts.webhook_url is 'The webhook of jobs whose request names none; null if they have none.';
comment on column accounts.webhook_secret is 'Signs the webhooks of its jobs; null until the operator makes one. Signing needs the secret itself, so no hash is stored.';
comment on column accounts.former_webhook_secret is 'The secret before the last rotation.';
comment on column accounts.former_webhook_secret_until is 'Until then webhooks are also signed with the former secret.';

create table webhook_deliveries (
    job_id uuid primary key references jobs (id) on delete cascade,
    account_id uuid not null,
    url text not null,
    host text not null generated always as (split_part(url, '/', 3)) stored,
    state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
    attempt integer not null default 0,
    due_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    last_error text,
    check ((state = 'pending') = (ended_at is null))
);
comment on table webhook_deliveries is 'The webhooks of jobs that have ended, written by the statement that ends the job. Deleted with the job: the webhook has its outcome.';
comment on column webhook_deliveries.job_id is 'The job, and the webhook-id of every attempt. A job that is retried ends again, and its row is due again.';
comment on column webhook_deliveries.account_id is 'The account that owns the job, whose secret signs the webhook.';
comment on column webhook_deliveries.url is 'Where it is sent: jobs.webhook_url.';
comment on column webhook_deliveries.host is 'Host and port of the URL. Each has only so many attempts at a time.';
comment on column webhook_deliveries.state is 'pending -> delivered | dead; dead or delivered -> pending by command.';
comment on column webhook_deliveries.attempt is 'How often it was leased. The write of an attempt''s result names it, so that a late one changes nothing.';
comment on column webhook_deliveries.due_at is 'Not attempted before this time. An attempt moves it to the end of its lease, so that another process repeats an attempt whose process died.';
comment on column webhook_deliveries.created_at is 'When the job ended.';
comment on column webhook_deliveries.ended_at is 'When it was delivered or given up.';
comment on column webhook_deliveries.last_error is 'Why the last attempt failed.';
create index webhook_deliveries_due on webhook_deliveries (due_at) where state = 'pending';
create index webhook_deliveries_dead on webhook_deliveries (job_id) where state = 'dead';

create function announce_webhook_delivery() returns trigger language plpgsql as $$
begin
    perform pg_notify('webhooks_due', '');
    return null;
end $$;
comment on function announce_webhook_delivery is 'Tells every api process that a webhook is to be sent.';
create trigger announce_webhook_delivery after insert or update on webhook_deliveries
    for each row when (new.state = 'pending' and new.due_at <= now()) execute function announce_webhook_delivery();
