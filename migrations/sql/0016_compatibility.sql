create table schema_compatibility (
    only_row boolean primary key default true check (only_row),
    oldest_version bigint not null
);
comment on table schema_compatibility is 'Which programs may run on this schema. One row.';
comment on column schema_compatibility.only_row is 'Always true: the table has one row.';
comment on column schema_compatibility.oldest_version is 'A program may run if it knows the migration with this version, also if it does not know later ones. A migration that older programs cannot run with raises it.';
insert into schema_compatibility (oldest_version) values (16);
