create table artifacts (
    job_id uuid not null references jobs (id) on delete cascade,
    name text not null,
    bytes bytea not null,
    primary key (job_id, name)
);
alter table artifacts alter column bytes set storage external;
comment on table artifacts is 'The bulk of an outcome, ready to be sent, as long as its job is kept.';
comment on column artifacts.job_id is 'The job it belongs to.';
comment on column artifacts.name is 'What it is to its outcome: points (JSON text) or image (a PNG).';
comment on column artifacts.bytes is 'The bytes. Stored uncompressed: compressing costs more time than writing.';
