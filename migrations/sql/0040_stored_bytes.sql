alter table accounts add column stored_mb integer check (stored_mb > 0);
comment on column accounts.stored_mb is 'The megabytes of its jobs that may be stored; null for as many as the server allows.';
comment on column artifacts.name is 'What it is to its outcome: strokes (points as differences), points (JSON text that has no such form) or image (a PNG).';
comment on column artifacts.bytes is 'The bytes. Postgres does not compress them: that costs more time than writing.';
