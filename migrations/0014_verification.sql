-- Verifications: an attempt to learn that somebody reads what is sent to a recipient.

-- An attempt's id is a UUIDv7, and its first message has the same: months are ranges
-- of ids. Whether it was superseded is not written here: verification_heads says so.
create table verifications (
  account_id uuid not null,
  id uuid not null,
  live boolean not null,
  -- Wrong codes so far, and resends.
  tries smallint not null default 0,
  resends smallint not null default 0,
  -- 'pending', 'verified', 'exhausted'; 'failed' where no channel took it and its sender was told so.
  status text not null default 'pending',
  validity_minutes smallint not null,
  -- As it is written to, and as it is compared.
  recipient text not null,
  recipient_key text not null,
  country text,
  -- Of the code that counts.
  message_id uuid not null,
  channel text not null,
  started_at timestamptz not null,
  expires_at timestamptz not null,
  resend_at timestamptz not null,
  verified_at timestamptz,
  -- Keyed hashes of the code, bound to the attempt and to its recipient: what a check
  -- names is what it is compared with. The code itself stands nowhere.
  code_hash bytea not null,
  recipient_hash bytea not null,
  -- The last check that counted: a repeated one is recognised.
  checked_by uuid,
  -- What the sender chose, for a resend.
  request json,
  -- All messages, in order: those of the start, as many as `started_with`, then those of resends.
  messages uuid[] not null,
  started_with smallint not null,
  primary key (account_id, id)
) partition by range (id);

-- The attempt that counts for a recipient: a later one supersedes it by taking its place.
create table verification_heads (
  account_id uuid not null,
  live boolean not null,
  recipient_key text not null,
  verification_id uuid not null,
  -- What it superseded: comes back when the later one is refused by every channel.
  previous_id uuid,
  primary key (account_id, live, recipient_key)
) with (fillfactor = 80);

-- Verifications are kept by the month like messages.
create or replace function ensure_month(month date) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', month::timestamp) at time zone 'UTC';
  next timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC';
  suffix text := to_char(month, 'YYYY_MM');
begin
  perform pg_advisory_xact_lock(hashtext('posthorn_partitions'));
  perform make_partition('messages', 'messages_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 60, autovacuum_vacuum_insert_scale_factor = 0.1');
  perform make_partition('events', 'events_' || suffix, first_uuid_at(first), first_uuid_at(next), 'fillfactor = 100');
  perform make_partition('deliveries', 'deliveries_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000');
  perform make_partition('inbound_messages', 'inbound_messages_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 100');
  perform make_partition('verifications', 'verifications_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 60, autovacuum_vacuum_insert_scale_factor = 0.1');
end $$;

create table verifications_other partition of verifications default with (fillfactor = 60);

select ensure_month((now() at time zone 'UTC')::date);
select ensure_month(((now() at time zone 'UTC') + interval '1 month')::date);

-- How an account wants its verifications: codeLength, validityMinutes, channels, templateId; null for as by default.
alter table accounts add column verification jsonb;

-- What the fraud guard goes by (core/fraud). The platform's own row is what holds for
-- accounts that say nothing else.
create table fraud_settings (
  account_id uuid primary key,
  settings jsonb not null
);
create trigger tell after insert or update or delete on fraud_settings
  for each row execute function tell_change('account_id');

-- What the nodes have counted together, by account and key: a range of numbers, a
-- country, a caller's address, a day's spending, the account. Every count stands as of
-- `at` and fades from there; core/fraud/tally.ts says how.
create table fraud_tallies (
  account_id uuid not null,
  key text not null,
  at timestamptz not null,
  fresh double precision not null,
  settled double precision not null,
  sends double precision not null,
  verified double precision not null,
  held_until timestamptz,
  held_by text,
  holds smallint not null,
  -- By the clock of the database: what other nodes changed since is found by it.
  changed_at timestamptz not null,
  primary key (account_id, key)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index fraud_tallies_changed on fraud_tallies (account_id, changed_at);

-- When codes went to a recipient of late, the earliest first: exact, whatever node sends.
create table fraud_recipients (
  account_id uuid not null,
  recipient text not null,
  sends timestamptz[] not null,
  -- So many at most, as the last of them was asked for, and when it leaves its window.
  most smallint not null,
  idle_at timestamptz not null,
  primary key (account_id, recipient)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index fraud_recipients_idle on fraud_recipients (idle_at);

-- What the guard stopped, or would have.
create table verification_blocks (
  account_id uuid not null,
  id uuid not null,
  action text not null,
  rule text not null,
  reason text not null,
  recipient text not null,
  country text,
  channel text not null,
  client_ip text,
  retry_at timestamptz not null,
  primary key (account_id, id)
);
-- For forgetting them.
create index verification_blocks_age on verification_blocks (id);

-- Totals of verifications, by the day on which they began.
create table verification_totals (
  account_id uuid not null,
  live boolean not null,
  day date not null,
  channel text not null,
  -- '' for recipients without one.
  country text not null,
  started bigint not null default 0,
  sent bigint not null default 0,
  delivered bigint not null default 0,
  verified bigint not null default 0,
  cost bigint not null default 0,
  blocked bigint not null default 0,
  primary key (account_id, live, day, channel, country)
) with (fillfactor = 60);

-- Verifications whose part in the totals may still change, and when to look at them
-- again. What of one was counted before stands here, so that only differences are added.
create table verification_uncounted (
  account_id uuid not null,
  id uuid not null,
  look_at timestamptz not null,
  counted jsonb not null default '[]',
  primary key (account_id, id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index verification_uncounted_due on verification_uncounted (look_at);
