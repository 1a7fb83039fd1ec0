alter table api_keys add column last_used_at timestamptz;
comment on column api_keys.last_used_at is 'When a request last had it, to a minute; null if none had.';

-- A use is no change that every api process must hear of.
drop trigger announce_api_key on api_keys;
create trigger announce_api_key after update of revoked_at on api_keys
    for each row execute function announce_api_key();
