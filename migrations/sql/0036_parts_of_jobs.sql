-- What belongs to jobs is deleted with them by four statements for all of them. As foreign keys, four triggers looked for the parts of
-- each job, which was nine tenths of the time of a deletion. No part can come without a job: each is inserted by a statement that
-- changes the row of its job, if that is there and has not ended before.
alter table artifacts drop constraint artifacts_job_id_fkey;
alter table segments drop constraint segments_job_id_fkey;
alter table failed_attempts drop constraint failed_attempts_job_id_fkey;
alter table webhook_deliveries drop constraint webhook_deliveries_job_id_fkey;

create function delete_parts_of_jobs() returns trigger language plpgsql as $$
declare
    jobs constant uuid[] := array(select id from deleted);
begin
    delete from artifacts where job_id = any(jobs);
    delete from segments where job_id = any(jobs);
    delete from failed_attempts where job_id = any(jobs);
    delete from webhook_deliveries where job_id = any(jobs);
    return null;
end $$;
comment on function delete_parts_of_jobs() is 'Deletes what belongs to deleted jobs: artifacts, segments, failed attempts and webhooks.';
create trigger delete_parts after delete on jobs referencing old table as deleted
    for each statement execute function delete_parts_of_jobs();
