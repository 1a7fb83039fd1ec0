-- The upload of a job may be outside the database (AKHAR_UPLOAD_STORE). A job that waits keeps its upload where it is.
alter table jobs
    add column upload_url text,
    add column upload_bytes bigint,
    add column upload_sha256 bytea;
comment on column jobs.upload is 'The file as received, until the job ends. Stored uncompressed: media is compressed already. Null if the file is outside the database.';
comment on column jobs.upload_url is 'The object outside the database that has the file, such as s3://bucket/prefix/name; null if the file is in the row. Kept when the job ends, though the object is deleted then.';
comment on column jobs.upload_bytes is 'The size of that object, bytes.';
comment on column jobs.upload_sha256 is 'The SHA-256 of that object.';
