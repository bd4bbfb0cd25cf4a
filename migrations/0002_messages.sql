-- Messages, their money and their way out. The functions that the hot path calls
-- are in 0003; here is what they write to.

-- A message's id is a UUIDv7: it carries the time of its request, and months are
-- ranges of ids. The columns from `amount` on are the usage entry of the ledger.
create table messages (
  account_id uuid not null,
  id uuid not null,
  live boolean not null,
  attempt smallint not null default 0,
  parts smallint,
  pool_id smallint,
  status text not null,
  channel text not null,
  message_type text not null,
  recipient text not null,
  country text,
  provider text not null,
  connection_id uuid not null,
  sender text,
  sender_source text not null,
  -- The channels that routing considered, in order, with commas.
  candidates text not null,
  -- Text, subject, attachment, template and context; the text of an OTP never stands here.
  content json,
  metadata json,
  template_id uuid,
  bulk_job_id uuid,
  amount bigint not null,
  -- 'wallet' or 'pool'; 'none' for test keys.
  funding text not null,
  -- 'held', 'captured', 'released'; 'none' for test keys.
  money text not null,
  money_at timestamptz,
  -- What the sender was told first, so that a replay says the same: null until then.
  answer text,
  -- The last attempt; earlier ones are in past_attempts.
  attempt_at timestamptz,
  settled_at timestamptz,
  provider_id text,
  provider_code text,
  error_code text,
  error_detail text,
  past_attempts jsonb,
  scheduled_at timestamptz,
  unknown_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  ended_at timestamptz,
  primary key (account_id, id)
) partition by range (id);

-- What is still to leave, or may have left and nobody knows: narrow, and empty
-- when all is done. `owner` is the node that holds the row; without one it is due
-- to whoever comes. `begun` says that the attempt is recorded: from then on the
-- message may have left the building, and is never sent again blindly.
create table outbox (
  account_id uuid not null,
  message_id uuid not null,
  connection_id uuid not null,
  due_at timestamptz not null,
  owner bigint,
  begun boolean not null,
  -- The text of an OTP, sealed; gone with the row.
  secret bytea,
  primary key (account_id, message_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
create index outbox_due on outbox (connection_id, due_at) where owner is null and not begun;
create index outbox_unknown on outbox (due_at) where owner is null and begun;

-- One row per idempotency key: the message that answers for it, or the stored answer
-- of a request that was refused before there was one, or of a batch.
create table idempotency (
  account_id uuid not null,
  operation smallint not null,
  key text not null,
  body_hash bytea not null,
  message_id uuid,
  status smallint,
  body text,
  created_at timestamptz not null,
  -- A batch: its messages' ids, written before any of them is accepted, and who was
  -- last at it. Its answer stands in status and body once all of them are.
  batch uuid[],
  batch_at timestamptz,
  primary key (account_id, operation, key)
);

-- From the provider's id to ours, for receipts. Belongs to the connection.
create table provider_refs (
  connection_id uuid not null,
  provider_id text not null,
  account_id uuid not null,
  message_id uuid not null,
  primary key (connection_id, provider_id)
);

-- Receipts that came before the submit's answer, or for nobody.
create table parked_receipts (
  id bigint generated always as identity primary key,
  connection_id uuid not null,
  provider_id text not null,
  status text not null,
  at timestamptz,
  provider_code text,
  detail text,
  received_at timestamptz not null
);
create index parked_receipts_ref on parked_receipts (connection_id, provider_id);

-- What happened, for those who listen.
create table events (
  account_id uuid not null,
  id uuid not null,
  type text not null,
  message_id uuid,
  at timestamptz not null,
  data jsonb,
  primary key (account_id, id)
) partition by range (id);

-- Files that came inside a request (base64), until their message is done.
create table attachments (
  account_id uuid not null,
  id uuid not null,
  message_id uuid not null,
  bytes bytea not null,
  primary key (account_id, id)
);

-- The smallest UUID of a time: 48 bits of milliseconds, then zeros.
create function first_uuid_at(at timestamptz) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- Makes the partitions of a month, once; called ahead of time by a chore. Rows of that
-- month that had to go elsewhere, because no node lived to make it in time, move in.
create function ensure_month(month date) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', month::timestamp) at time zone 'UTC';
  next timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC';
  suffix text := to_char(month, 'YYYY_MM');
begin
  perform pg_advisory_xact_lock(hashtext('posthorn_partitions'));
  perform make_partition('messages', 'messages_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 60, autovacuum_vacuum_insert_scale_factor = 0.1');
  perform make_partition('events', 'events_' || suffix, first_uuid_at(first), first_uuid_at(next), 'fillfactor = 100');
end $$;

create function make_partition(parent text, name text, low uuid, high uuid, settings text)
returns void language plpgsql as $$
declare
  strays boolean;
begin
  if to_regclass(name) is not null then return; end if;
  execute format('select exists (select 1 from %I where id >= $1 and id < $2)', parent || '_other') into strays using low, high;
  if not strays then
    execute format('create table %I partition of %I for values from (%L) to (%L) with (%s)', name, parent, low, high, settings);
    return;
  end if;
  execute format('lock table %I in access exclusive mode', parent || '_other');
  execute format('create table %I (like %I including defaults including constraints) with (%s)', name, parent, settings);
  execute format('with strays as (delete from %I where id >= $1 and id < $2 returning *) insert into %I select * from strays',
    parent || '_other', name) using low, high;
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, name, low, high);
end $$;

-- Whatever lies outside the months that exist still has a place.
create table messages_other partition of messages default with (fillfactor = 60);
create table events_other partition of events default;

select ensure_month((now() at time zone 'UTC')::date);
select ensure_month(((now() at time zone 'UTC') + interval '1 month')::date);
