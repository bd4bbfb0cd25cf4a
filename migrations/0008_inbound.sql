-- Messages from people to our numbers.

-- Kept by months like messages; a row of the platform's was written to a number
-- that belongs to no account, or to several.
create table inbound_messages (
  account_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  provider text not null,
  provider_id text not null,
  channel text not null,
  sender text not null,
  recipient text not null,
  body text,
  button text,
  -- 'stop' or 'start': what the message meant to our suppressions.
  keyword text,
  -- By the provider's word.
  sent_at timestamptz,
  primary key (account_id, id)
) partition by range (id);
create index inbound_messages_sender on inbound_messages (account_id, sender, id);

create table inbound_messages_other partition of inbound_messages default;

-- The provider's ids of what was taken: the same message may be told several
-- times, in any month. Swept when no provider repeats it any more.
create table inbound_refs (
  connection_id uuid not null,
  provider_id text not null,
  received_at timestamptz not null,
  primary key (connection_id, provider_id)
);
create index inbound_refs_age on inbound_refs (received_at);

-- Parts of long messages until all of them are there: they may come over any bind, to any node.
create table inbound_parts (
  connection_id uuid not null,
  sender text not null,
  recipient text not null,
  -- The sender's number of the message, which comes again after some others.
  reference text not null,
  number smallint not null,
  total smallint not null,
  provider text not null,
  provider_id text not null,
  channel text not null,
  -- UTF-16: a character may be cut in two.
  body bytea not null,
  received_at timestamptz not null,
  primary key (connection_id, sender, recipient, reference, number)
);
create index inbound_parts_age on inbound_parts (received_at);

-- Whose number a message was written to.
create index sms_senders_approved on sms_senders (name) where status = 'approved';

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
end $$;

select ensure_month((now() at time zone 'UTC')::date);
select ensure_month(((now() at time zone 'UTC') + interval '1 month')::date);
