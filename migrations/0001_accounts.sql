-- Who may send, with what money, at which price, through whom.
-- Every account-owned table leads its key with account_id, so that the schema
-- spreads over servers by account as it stands. What belongs to the platform
-- itself is owned by the nil account.

create table plans (
  name text primary key,
  status text not null check (status in ('active', 'inactive')),
  allows_scheduling boolean not null,
  bulk_ceiling_per_second integer not null check (bulk_ceiling_per_second between 1 and 1000000),
  rate_limit_per_second integer not null check (rate_limit_per_second between 1 and 1000000),
  verification_rate_limit_per_second integer not null check (verification_rate_limit_per_second between 1 and 1000000)
);

create table accounts (
  id uuid primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended')),
  home_country text not null,
  currency text not null,
  phone_number text,
  phone_verified boolean not null default false,
  plan_name text not null,
  plan_status text not null check (plan_status in ('active', 'inactive')),
  allows_scheduling boolean not null,
  bulk_ceiling_per_second integer not null,
  rate_limit_per_second integer not null,
  verification_rate_limit_per_second integer not null,
  -- The event types that somebody listens to; no row is written for the others.
  event_types text[] not null default '{}'
);

-- The included messages of a plan, by month.
create table pools (
  account_id uuid not null,
  id smallint not null,
  channels text[] not null,
  included bigint not null check (included >= 0),
  used bigint not null default 0 check (used >= 0),
  resets_at timestamptz not null,
  primary key (account_id, id)
) with (fillfactor = 50);

-- Millionths of the account's currency. At every instant
-- balance + held + captured = credited.
create table wallets (
  account_id uuid primary key,
  balance bigint not null default 0 check (balance >= 0),
  held bigint not null default 0 check (held >= 0),
  captured bigint not null default 0 check (captured >= 0),
  credited bigint not null default 0,
  check (balance + held + captured = credited)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What moves a wallet beside the messages themselves, whose rows carry their own
-- hold, capture and release (docs/decisions/0004-money-on-the-message.md).
create table ledger (
  account_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('credit', 'debit', 'refund')),
  amount bigint not null check (amount > 0),
  note text,
  message_id uuid,
  primary key (account_id, id)
);

create table api_keys (
  account_id uuid not null,
  id uuid not null,
  name text not null,
  -- What a list shows: the first letters, never enough to use.
  prefix text not null,
  hash bytea not null,
  mode text not null check (mode in ('live', 'test')),
  role text not null check (role in ('owner', 'member')),
  permissions text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  primary key (account_id, id)
);
create index api_keys_hash on api_keys (hash);

create table prices (
  channel text not null,
  -- An ISO country, '*' for any, or null where a prefix decides.
  country text,
  -- Digits after the plus.
  prefix text,
  -- '*' for any.
  message_type text not null,
  price bigint not null check (price >= 0),
  currency text not null,
  check ((country is null) <> (prefix is null)),
  unique nulls not distinct (channel, country, prefix, message_type, currency)
);

create table connections (
  account_id uuid not null,
  id uuid not null,
  provider text not null,
  name text not null,
  channels text[] not null,
  config jsonb not null,
  -- The secret fields of the configuration, sealed.
  secrets bytea,
  enabled boolean not null default true,
  priority_order integer not null default 100,
  max_attempts integer not null check (max_attempts between 1 and 20),
  backoff_ms integer not null check (backoff_ms between 0 and 86400000),
  allowed_types text[] not null,
  send_mode_by_type jsonb not null,
  -- Rises with every change, so that a link knows when it is out of date.
  revision bigint not null default 1,
  primary key (account_id, id)
);

create table sms_senders (
  account_id uuid not null,
  id uuid not null,
  name text not null,
  status text not null check (status in ('pending', 'approved', 'rejected')),
  is_default boolean not null default false,
  reason text,
  webhook_url text,
  webhook_secret bytea,
  primary key (account_id, id),
  unique (account_id, name)
);
create unique index sms_senders_default on sms_senders (account_id) where is_default;

-- What the store knows about itself: a word sealed with the master key, by which a
-- node with another key is told before it does harm.
create table store_facts (
  name text primary key,
  value bytea not null
);

-- The processes that live; one that misses its beats loses what it holds.
create table nodes (
  id bigint generated always as identity primary key,
  host text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

-- Caches on every node are told of a change within the transaction that makes it.
create function tell_change() returns trigger language plpgsql as $$
declare
  row_of jsonb := to_jsonb(coalesce(new, old));
begin
  perform pg_notify('posthorn_changes', tg_table_name || ':' || coalesce(row_of ->> tg_argv[0], ''));
  return null;
end $$;

create trigger tell after insert or update or delete on accounts
  for each row execute function tell_change('id');
create trigger tell after insert or delete or update of mode, role, permissions, expires_at, revoked_at, hash on api_keys
  for each row execute function tell_change('account_id');
create trigger tell after insert or delete or update of channels, included on pools
  for each row execute function tell_change('account_id');
create trigger tell after insert or update or delete on connections
  for each row execute function tell_change('account_id');
create trigger tell after insert or update or delete on sms_senders
  for each row execute function tell_change('account_id');
create trigger tell after insert or update or delete on prices
  for each statement execute function tell_change('channel');

insert into plans values ('default', 'active', true, 10, 50, 10);
