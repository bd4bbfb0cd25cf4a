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
