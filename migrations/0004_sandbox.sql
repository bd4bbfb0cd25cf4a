-- The sandbox provider's own memory. It stands for a carrier's, so nothing else
-- of ours may join with it; kept for days only (see sweep in core/sandbox).

-- What it took. `content` is json, not jsonb: it is only ever read back whole, and
-- keeps every string a sender may write, NUL included.
create table sandbox_messages (
  account_id uuid not null,
  message_id uuid not null,
  channel text not null,
  recipient text not null,
  attempts smallint not null,
  received_at timestamptz not null,
  content json not null,
  primary key (account_id, message_id)
);
create index sandbox_messages_newest on sandbox_messages (account_id, received_at, message_id);
create index sandbox_messages_recipient on sandbox_messages (account_id, recipient, received_at, message_id);

-- Receipts still to be told. A node claims what is due for a few seconds, tells it,
-- and deletes it: a node that dies between leaves it to the next. The claim stands
-- in no index, so that claiming does not write one.
create table sandbox_receipts (
  id bigint generated always as identity primary key,
  connection_id uuid not null,
  provider_id text not null,
  status text not null check (status in ('delivered', 'read', 'undelivered')),
  due_at timestamptz not null,
  claimed_until timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
create index sandbox_receipts_due on sandbox_receipts (connection_id, due_at);

-- Until when a recipient with the throttled ending makes an account's lane rest.
create table sandbox_rests (
  account_id uuid not null,
  recipient text not null,
  until timestamptz not null,
  primary key (account_id, recipient)
);
