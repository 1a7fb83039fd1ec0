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
comment on table job_groups is 'The groups of jobs, with the number of jobs in each state. A row exists while its group has jobs. Changed only by count_in_groups.';
comment on column job_groups.account_id is 'The account that owns the jobs.';
comment on column job_groups.name is 'The name that requests gave the group: jobs.group_name.';
comment on column job_groups.n_unended is 'The number of jobs that wait or run. Those that run are counted when the group is read, so that claims do not change the row.';
comment on column job_groups.n_succeeded is 'The number of jobs that have succeeded.';
comment on column job_groups.n_failed is 'The number of jobs that have failed.';
comment on column job_groups.n_cancelled is 'The number of jobs that were cancelled.';
comment on column job_groups.created_at is 'When the first of the jobs was accepted.';
comment on column job_groups.last_ended_at is 'When one of the jobs last ended.';

create function count_in_groups(accounts uuid[], names text[], befores text[], afters text[]) returns void language plpgsql as $$
begin
    insert into job_groups as g (account_id, name, n_unended, n_succeeded, n_failed, n_cancelled, last_ended_at)
    select account, name, coalesce(sum(n) filter (where state in ('queued', 'running')), 0),
        coalesce(sum(n) filter (where state = 'succeeded'), 0), coalesce(sum(n) filter (where state = 'failed'), 0),
        coalesce(sum(n) filter (where state = 'cancelled'), 0),
        max(now()) filter (where n > 0 and state in ('succeeded', 'failed', 'cancelled'))
    from unnest(accounts, names, befores, afters) as changed (account, name, before, after),
        lateral (values (before, -1), (after, 1)) as counted (state, n)
    group by account, name order by account, name
    on conflict (account_id, name) do update set
        n_unended = g.n_unended + excluded.n_unended, n_succeeded = g.n_succeeded + excluded.n_succeeded,
        n_failed = g.n_failed + excluded.n_failed, n_cancelled = g.n_cancelled + excluded.n_cancelled,
        last_ended_at = coalesce(excluded.last_ended_at, g.last_ended_at);
    if array_position(afters, null) is not null then
        delete from job_groups where (account_id, name) in (select unnest(accounts), unnest(names))
            and n_unended + n_succeeded + n_failed + n_cancelled = 0;
    end if;
end $$;
comment on function count_in_groups is 'Counts jobs in their groups that change from one state to another, in the order of the arrays. Null is the state of a job that does not exist. Changes the rows in the order of accounts and names.';
