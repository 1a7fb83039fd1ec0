create table clock_jumps (
    jumped_from timestamptz not null,
    jumped_to timestamptz not null,
    primary key (jumped_from, jumped_to)
);
comment on table clock_jumps is 'The times that the database''s clock skipped when it jumped ahead. They do not count as time that has passed. Several workers may record the same jump.';
comment on column clock_jumps.jumped_from is 'The last time that the worker had seen before the jump.';
comment on column clock_jumps.jumped_to is 'The time after the jump, less what had really passed.';

-- A worker that stopped during the last attempt at a job returned it to its queue, where it was never claimed again.
update jobs set max_attempts = attempt + 1 where state = 'queued' and attempt >= max_attempts;
