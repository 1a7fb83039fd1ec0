alter table jobs add column deaths int2 not null default 0;
comment on column jobs.deaths is 'How often its worker died or lost it. From the second time on it is a suspect: it may be what kills the workers.';
-- Only suspects that have not ended, so a claim of another job adds no entry. Its key is that of jobs_claim.
create index jobs_suspects on jobs (queue, priority desc, turn, run_at, id) where deaths >= 2 and ended_at is null;
