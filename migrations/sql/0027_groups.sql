alter table jobs add column group_name text, add column labels jsonb;
comment on column jobs.group_name is 'The name of its group among those of its account (job_groups); null without a group. Never changes.';
comment on column jobs.labels is 'The labels that its request gave it, a JSON object of texts; null without labels. Never changes.';
create index jobs_of_group on jobs (group_name, account_id, id desc) where group_name is not null;
create index jobs_of_label on jobs using gin (labels jsonb_path_ops) where labels is not null;

-- Half-empty pages have room for the next version of a row, so that an update touches no index.
create table job_groups (
    account_id uuid not null,
    name text not null,
    n_unended bigint not null,
    n_succeeded bigint not null,
    n_failed bigint not null,
    n_cancelled bigint not null,
    created_at timestamptz not null default now(),
    last_ended_at timestamptz,
    primary key (account_id, name)
) with (fillfactor = 50);
comment on table job_groups is 'The groups of jobs, with the number of jobs in each state. Changed by the statements that change jobs. A row whose group has no jobs any more is deleted by a sweep.';
comment on column job_groups.account_id is 'The account that owns the jobs.';
comment on column job_groups.name is 'The name that requests gave the group: jobs.group_name.';
comment on column job_groups.n_unended is 'The number of jobs that wait or run. Those that run are counted when the group is read, so that claims do not change the row.';
comment on column job_groups.n_succeeded is 'The number of jobs that have succeeded.';
comment on column job_groups.n_failed is 'The number of jobs that have failed.';
comment on column job_groups.n_cancelled is 'The number of jobs that were cancelled.';
comment on column job_groups.created_at is 'When the first of the jobs was accepted.';
comment on column job_groups.last_ended_at is 'When one of the jobs last ended.';
