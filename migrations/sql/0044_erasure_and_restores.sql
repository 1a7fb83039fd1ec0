-- An account can be erased with all that is kept of it. The row of the audit trail that says so keeps requests that are under way from
-- writing anything for the account afterwards: they are far shorter than the 90 days for which the row is kept.
create index audit_erased on audit (target) where action = 'account.erase';

create function is_erased(account uuid) returns boolean language sql stable as $$
    select exists (select from audit where action = 'account.erase' and target = account::text)
$$;
comment on function is_erased is 'Whether an account is erased, or is being erased.';

create function may_write(account uuid) returns boolean language plpgsql volatile as $$
begin
    perform pg_advisory_xact_lock_shared(hashtext('erasure'), uuid_hash(account));
    return not is_erased(account);
end $$;
comment on function may_write is 'Whether a row may be written for an account. Until the transaction ends, the erasure of the account does not begin.';

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
            select nths, case when not is_erased(new.account) then coalesce((
                select j.turn from jobs j
                where j.queue = new.queue and j.account_id = new.account and j.priority = new.priority
                    and coalesce(j.ended_at, 'infinity') = 'infinity' and j.turn > new.claimed
                order by j.turn desc limit 1), new.claimed) end as last_turn
            from new)
        select array_agg(last_turn + n order by nth)
        from of_account cross join unnest(nths) with ordinality as given (nth, n));
end $$;
comment on function next_turns is 'The turns of new jobs, in the order of the arrays: each job of an account gets the turn after its last waiting one, but none that was claimed already. Null for an account that is erased.';

comment on table accounts is 'Who owns jobs. A row is deleted only when the account is erased, after its jobs.';
comment on table api_keys is 'Keys of accounts. A row is deleted only when its account is erased.';

-- A database that was restored from a backup does nothing to callers until an operator has looked at it.
create table restores (
    name text primary key,
    restored_at timestamptz not null default now(),
    released_at timestamptz
);
comment on table restores is 'The restores of the database that are known. While one is not released, no job starts, no webhook is sent and nothing old is deleted.';
comment on column restores.name is 'What the setting akhar.restored says in a data folder that was restored, or a random id.';
comment on column restores.restored_at is 'When it was recorded.';
comment on column restores.released_at is 'When an operator let the database go on; null before.';

create function is_quiet() returns boolean language sql stable as $$
    select exists (select from restores where released_at is null)
        or coalesce(current_setting('akhar.restored', true), '') not in (select '' union all select name from restores)
$$;
comment on function is_quiet is 'Whether the database was restored and no operator has let it go on. The setting akhar.restored is written into the data folder by the script that restores it, because nobody can write to the database before it has recovered.';
