create table reserved_uploads (
    id uuid primary key,
    account_id uuid not null,
    n_bytes int8 not null,
    job_id uuid,
    created_at timestamptz not null default now()
);
create index reserved_uploads_of_account on reserved_uploads (account_id);
comment on table reserved_uploads is 'The objects that callers may write to the bucket by presigned URLs, each for one job.';
comment on column reserved_uploads.id is 'The id of the upload.';
comment on column reserved_uploads.account_id is 'The account that may use it. The object is called after both: id.account_id.';
comment on column reserved_uploads.n_bytes is 'The size that the object must have.';
comment on column reserved_uploads.job_id is 'Its job, from the statement on that submits it. Then the object is needed for as long as the job is.';
comment on column reserved_uploads.created_at is 'When it was reserved. A day later the row and the object are deleted if no job needs them.';
comment on column jobs.upload_sha256 is 'The SHA-256 of that object; null if the caller has written it.';
