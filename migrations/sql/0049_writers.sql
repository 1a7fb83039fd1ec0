-- A caller that has lost its connection goes on with another one: it learns how much of its input is stored, and the former connection
-- writes no more of it.
alter table streams
    add column n_bytes bigint not null default 0,
    add column writer int not null default 0;
comment on column streams.n_bytes is 'The bytes of all parts of the input that were stored.';
comment on column streams.writer is 'Which connection may append input: the number of those before it.';
