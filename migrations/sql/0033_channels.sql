alter table segments add column channel smallint;
comment on column segments.channel is 'The channel that it is said in, from 1; null if the channels are mixed.';
