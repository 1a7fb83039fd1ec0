alter table accounts add column retain_s integer check (retain_s >= 0), add column max_retain_s integer check (max_retain_s >= 0);
comment on column accounts.retain_s is 'How long its jobs are kept after their ends, seconds, if the request does not say so; null for as long as the server keeps jobs.';
comment on column accounts.max_retain_s is 'The most that its requests may ask for, seconds; null for as long as the server keeps jobs.';

alter table jobs add column retain_s integer;
comment on column jobs.retain_s is 'How long it is kept after its end, seconds; 0 until its outcome is delivered; null for as long as the server keeps jobs.';
-- Only the sweep of these jobs may use this index: see delete_retained.
create index jobs_retained on jobs (retain_s, ended_at) where retain_s > 0 and ended_at is not null;
