create table tokens (
    prefix text primary key,
    key_id uuid not null references api_keys (id),
    secret_sha256 bytea not null check (octet_length(secret_sha256) = 32),
    operation text not null,
    origin text not null,
    expires_at timestamptz not null
);
comment on table tokens is 'Short-lived keys for web pages. Expired ones are deleted when their key gets another.';
comment on column tokens.prefix is 'The 8 characters after at_: how logs name the token.';
comment on column tokens.key_id is 'The key that asked for it. The token stops working when the key is revoked.';
comment on column tokens.secret_sha256 is 'SHA-256 of the whole token as presented. The token itself is stored nowhere.';
comment on column tokens.operation is 'The only operation that it may use.';
comment on column tokens.origin is 'The origin of the pages that may use it.';
comment on column tokens.expires_at is 'When it stops working.';
create index tokens_of_key on tokens (key_id);
