-- A claim changes no column that an index has, so it writes a new version of the row into the same page and no index entry ("HOT"). For
-- that, more than half of each page is left free, no index has the states of jobs that have not ended, and jobs that run are found among those
-- that wait, by their turns. Earlier processes go on with these indexes, but read the whole table to claim.
drop index jobs_claim, jobs_waiting, jobs_running, jobs_failed, jobs_failed_of_account, jobs_cancelled_of_account, jobs_of_group_by_state;
alter table jobs set (fillfactor = 45),
    add column ended_as text generated always as (case when state in ('succeeded', 'failed', 'cancelled') then state end) stored;
comment on column jobs.ended_as is 'The state of a job that has ended; null before. For indexes, because none may have a column that a claim changes.';

create index jobs_claim on jobs (queue, priority desc, turn, run_at, id) where ended_at is null;

-- The unended jobs of an account. Only statements with this odd condition use this index, and none of them uses jobs_claim: the planner
-- does not know which of both is better, and with jobs_claim it would read the jobs of all accounts.
create index jobs_unended_of_account on jobs (queue, account_id, priority, turn) where coalesce(ended_at, 'infinity') = 'infinity';

create index jobs_failed on jobs (id desc) where ended_as = 'failed';
create index jobs_without_answer_of_account on jobs (account_id, ended_as, id desc) where ended_as in ('failed', 'cancelled');
create index jobs_of_group_by_state on jobs (account_id, group_name, ended_as, ended_at) where group_name is not null;

create function running_jobs() returns setof jobs language sql stable as $$
    select j.* from (values ('quick', 1::int2), ('quick', 0::int2), ('speech', 1::int2), ('speech', 0::int2)) as claimed (queue, priority)
    join jobs j on j.queue = claimed.queue and j.priority = claimed.priority and j.ended_at is null and j.state = 'running'
        and j.turn <= coalesce((
            select c.turn from claimed_turns c where c.queue = claimed.queue and c.priority = claimed.priority
            order by c.turn desc limit 1), 0)
$$;
comment on function running_jobs() is 'The jobs that run. None has a higher turn than the highest that was claimed, so few waiting jobs are read to find them.';

create or replace function next_turns(queues text[], priorities smallint[], accounts uuid[]) returns bigint[] language plpgsql as $$
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
            select nths, coalesce((
                select j.turn from jobs j
                where j.queue = new.queue and j.account_id = new.account and j.priority = new.priority
                    and coalesce(j.ended_at, 'infinity') = 'infinity' and j.turn > new.claimed
                order by j.turn desc limit 1), new.claimed) as last_turn
            from new)
        select array_agg(last_turn + n order by nth)
        from of_account cross join unnest(nths) with ordinality as given (nth, n));
end $$;
