-- Only next_turns may use this index, and no other index than this. The planner does not know which of the indexes of waiting
-- jobs is better, and with jobs_claim it would read the waiting jobs of all accounts. So the condition is one that other
-- statements do not have.
drop index jobs_waiting;
create index jobs_waiting on jobs (queue, account_id, priority, turn) where state like 'queued';

-- Looks only for turns above the highest that was claimed. The index entries of claimed jobs stay until a vacuum, and a search
-- for the highest turn of all would read them.
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
                    and j.state like 'queued' and j.turn > new.claimed
                order by j.turn desc limit 1), new.claimed) as last_turn
            from new)
        select array_agg(last_turn + n order by nth)
        from of_account cross join unnest(nths) with ordinality as given (nth, n));
end $$;
