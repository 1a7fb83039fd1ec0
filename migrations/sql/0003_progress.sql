alter table jobs add column transcribed_s double precision;
comment on column jobs.transcribed_s is 'Seconds of its recording transcribed so far by the last attempt; null for other operations.';
