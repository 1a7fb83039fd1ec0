alter table workers
    add column models jsonb not null default '[]',
    add column models_since timestamptz not null default now();
comment on column workers.models is 'The models that it has loaded, one for each operation and language, with the version of each. Empty for a worker of a version that does not say so.';
comment on column workers.models_since is 'When it loaded them.';
