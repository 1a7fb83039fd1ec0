-- The end of a group can be sent to a URL too.
alter table job_groups add column webhook_url text;
comment on column job_groups.webhook_url is 'Where its end is announced: the URL that one of its jobs named last. Null: at the URL of the account, if it has one.';

alter table webhook_deliveries
    drop constraint webhook_deliveries_pkey,
    alter column job_id drop not null,
    add unique (job_id),
    add column group_name text,
    add column group_end jsonb,
    add column group_end_id uuid,
    add column id uuid not null generated always as (coalesce(job_id, group_end_id)) stored primary key,
    add foreign key (account_id, group_name) references job_groups (account_id, name) on delete cascade,
    add constraint webhook_deliveries_subject_check check (
        (job_id is null) = (group_name is not null)
        and (group_name is null) = (group_end is null)
        and (group_name is null) = (group_end_id is null));
create unique index webhook_deliveries_of_group on webhook_deliveries (account_id, group_name) where group_name is not null;
drop index webhook_deliveries_dead;
create index webhook_deliveries_dead on webhook_deliveries (id) where state = 'dead';

comment on table webhook_deliveries is 'The webhooks of jobs and groups that have ended, written by the statement that ends the job or the last job of the group. Deleted with the job or the group.';
comment on column webhook_deliveries.job_id is 'The job that has ended; null for a group. A job that is retried ends again, and its row is due again.';
comment on column webhook_deliveries.account_id is 'The account that owns the job or the group, whose secret signs the webhook.';
comment on column webhook_deliveries.url is 'Where it is sent: jobs.webhook_url, or job_groups.webhook_url or that of the account.';
comment on column webhook_deliveries.created_at is 'When the job or the group ended.';
comment on column webhook_deliveries.group_name is 'The group that has ended; null for a job. A group that is opened again and ends again has its row replaced.';
comment on column webhook_deliveries.group_end is 'The row of the group in job_groups as the end of its last job left it.';
comment on column webhook_deliveries.group_end_id is 'The webhook-id of a group''s end, new at each.';
comment on column webhook_deliveries.id is 'The webhook-id of every attempt: the job, or the end of the group.';
