alter table jobs add column progressed_at timestamptz;
comment on column jobs.progressed_at is 'When the last attempt last progressed; null, or a time before started_at, if it has not.';
