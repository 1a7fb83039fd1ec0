create table segments (
    job_id uuid not null references jobs (id) on delete cascade,
    attempt integer not null,
    n integer not null,
    start_s double precision not null,
    end_s double precision not null,
    text text not null,
    primary key (job_id, attempt, n)
);
comment on table segments is 'The finished segments of recordings that are being transcribed. Deleted when the attempt ends: then the outcome has them.';
comment on column segments.job_id is 'The job it belongs to.';
comment on column segments.attempt is 'The attempt that transcribed it.';
comment on column segments.n is 'Its number within the recording, from 1.';
comment on column segments.start_s is 'Its start, seconds from the start of the recording.';
comment on column segments.end_s is 'Its end, seconds from the start of the recording.';
comment on column segments.text is 'What is said in it.';
