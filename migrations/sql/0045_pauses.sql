alter table queue_controls add column why text, add column until timestamptz;
comment on column queue_controls.why is 'Why an operator set this mode, in a sentence; null if nothing was said.';
comment on column queue_controls.until is 'When the queue is open again; null if an operator opens it.';

create function queue_modes() returns setof queue_controls language sql stable as $$
    select queue, mode, changed_at, why, until from queue_controls where until is null or until > now()
    union all
    select queue, 'open', until, null, null from queue_controls where until <= now()
$$;
comment on function queue_modes() is 'The modes that the queues have now. A queue whose time is over is open, also before a process has written that.';

alter table workers add column program text;
comment on column workers.program is 'The version of akhar that it runs; null if it is older than this column.';
