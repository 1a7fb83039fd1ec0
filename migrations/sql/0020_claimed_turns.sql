-- The database gives turns, so that all apis give the same. Only this adds something: programs that give turns
-- themselves still run.
create table claimed_turns (
    queue text not null,
    priority smallint not null,
    turn bigint not null
);
create index claimed_turns_highest on claimed_turns (queue, priority, turn);
comment on table claimed_turns is 'How far the claims of a queue have come: the highest turn of each claim. A sweep deletes all but the highest of a queue and priority. Claims insert rows, because an update of one row would make them wait for each other.';
comment on column claimed_turns.queue is 'The name of the queue.';
comment on column claimed_turns.priority is 'The priority of the jobs: each has turns of its own.';
comment on column claimed_turns.turn is 'The highest turn of the jobs that were claimed.';

-- Jobs that wait already keep their turns, and new ones start at the lowest of them.
insert into claimed_turns (queue, priority, turn)
select queue, priority, min(turn) from jobs where state = 'queued' group by queue, priority;

create index jobs_waiting on jobs (queue, account_id, priority, turn) where state = 'queued';

comment on column jobs.turn is 'Orders the waiting jobs of a queue and priority. next_turns gives it.';

-- The locks make the statements of one account and queue wait for each other, also those of other processes. The query
-- after them sees what the others have committed, because each query of a volatile function has a snapshot of its own.
create function next_turns(queues text[], priorities smallint[], accounts uuid[]) returns bigint[] language plpgsql as $$
begin
    perform pg_advisory_xact_lock(queue_key, account_key) from (
        select distinct hashtext(queue) as queue_key, uuid_hash(account) as account_key
        from unnest(queues, accounts) as new (queue, account) order by queue_key, account_key) as keys;
    return (
        with of_account as materialized ( -- looked up once for each account
            select nths, greatest(0,
                (select max(c.turn) from claimed_turns c where c.queue = new.queue and c.priority = new.priority),
                (select max(j.turn) from jobs j
                 where j.queue = new.queue and j.account_id = new.account and j.priority = new.priority
                     and j.state = 'queued')) as last_turn
            from (
                select queue, priority, account, array_agg(nth order by nth) as nths
                from unnest(queues, priorities, accounts) with ordinality as new (queue, priority, account, nth)
                group by queue, priority, account) as new)
        select array_agg(last_turn + n order by nth)
        from of_account cross join unnest(nths) with ordinality as given (nth, n));
end $$;
comment on function next_turns is 'The turns of new jobs, in the order of the arrays: each job of an account gets the turn after its last waiting one, but none that was claimed already.';
