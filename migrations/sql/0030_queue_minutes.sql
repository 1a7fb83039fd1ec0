create table queue_minutes (
    minute timestamptz not null,
    queue text not null,
    n_started integer not null,
    n_ended integer not null,
    n_failed integer not null,
    oldest_wait_ms bigint not null,
    audio_s double precision not null,
    primary key (minute, queue)
);
comment on table queue_minutes is 'What happened in each queue in each minute of the last day. A minute in which no process ran has no row.';
comment on column queue_minutes.minute is 'The start of the minute.';
comment on column queue_minutes.queue is 'The name of the queue.';
comment on column queue_minutes.n_started is 'Attempts that began.';
comment on column queue_minutes.n_ended is 'Jobs that ended, in any state.';
comment on column queue_minutes.n_failed is 'Those of them that failed.';
comment on column queue_minutes.oldest_wait_ms is 'The longest wait of a job that was claimed for the first time, or that still waited at the end of the minute; 0 without one.';
comment on column queue_minutes.audio_s is 'Seconds of the recordings whose jobs ended.';

create index failed_attempts_started on failed_attempts (started_at);
