alter table jobs add column recording_url text;
comment on column jobs.recording_url is 'Where a worker fetches the recording, until the job ends; of a job that the service failed to process, until the row is deleted. Null if the caller has sent it. Its query can be a secret.';
