alter table accounts
    add column requests_per_minute integer check (requests_per_minute > 0),
    add column max_queued integer check (max_queued > 0),
    add column audio_minutes_per_day integer check (audio_minutes_per_day > 0);
comment on column accounts.requests_per_minute is 'The requests that each api process accepts of it in a minute; null for any number.';
comment on column accounts.max_queued is 'The jobs that it may have waiting in each queue; null for as many as its share of the queue.';
comment on column accounts.audio_minutes_per_day is 'The minutes of recordings that may be transcribed for it in a day (UTC); null for any number.';

create trigger announce_account after update on accounts
    for each row execute function announce_api_key();
comment on function announce_api_key is 'Tells every api process to forget what it cached of keys and their accounts.';

create table audio_usage (
    account_id uuid not null,
    day date not null,
    seconds double precision not null,
    primary key (account_id, day)
);
comment on table audio_usage is 'How much audio was transcribed for each account. Days older than a month are deleted.';
comment on column audio_usage.account_id is 'The account.';
comment on column audio_usage.day is 'The day in UTC on which the jobs ended.';
comment on column audio_usage.seconds is 'The length of the recordings together, seconds.';
