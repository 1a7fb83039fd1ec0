-- The jobs of a group are counted when somebody asks, so that no statement that submits or ends jobs changes the row of a group.
alter table job_groups add column ended_at timestamptz;
update job_groups set ended_at = now() where n_unended = 0;
alter table job_groups drop column n_unended, drop column n_succeeded, drop column n_failed, drop column n_cancelled,
    drop column last_ended_at, reset (fillfactor);
create index job_groups_open on job_groups (account_id, name) where ended_at is null;
create index jobs_of_group_by_state on jobs (account_id, group_name, state, ended_at) where group_name is not null;
comment on table job_groups is 'The groups of jobs. Inserted with the first job. A row whose group has ended and has no jobs any more is deleted by a sweep.';
comment on column job_groups.ended_at is 'When a look found that none of its jobs waits or runs; null while it is open. A new job opens it again.';
comment on column webhook_deliveries.group_end is 'The group with its counts as the look that found its end left it.';
comment on table webhook_deliveries is 'The webhooks of jobs and groups that have ended, written by the statement that ends the job or marks the group as ended. Deleted with the job or the group.';
