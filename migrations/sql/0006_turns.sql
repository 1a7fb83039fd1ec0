-- Jobs of one priority are claimed in the order of their turns, so that no account delays the others. Jobs that wait
-- already keep their order among each other.
alter table jobs add column turn bigint not null default 0;
comment on column jobs.turn is 'Orders the waiting jobs of a queue and priority. Each account''s jobs have increasing turns, so accounts alternate.';

drop index jobs_claim;
create index jobs_claim on jobs (queue, priority desc, turn, run_at, id) where state = 'queued';
