alter table api_keys
    add column expires_at timestamptz,
    add column replaced_by uuid references api_keys (id);
comment on column api_keys.expires_at is 'When it stops working, if that was set; null if it works until it is revoked.';
comment on column api_keys.replaced_by is 'The key that rotation made in its place; null if it was not rotated.';

drop trigger announce_api_key on api_keys;
create trigger announce_api_key after update of revoked_at, expires_at on api_keys
    for each row execute function announce_api_key();
