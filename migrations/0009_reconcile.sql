-- What became of attempts that nobody knows: asked of providers that can look them up, and told
-- by receipts that name our own id of the attempt.

-- When the provider of an unknown message is to be asked next, and how often it was looked at.
alter table outbox add column asks smallint not null default 0;
alter table outbox add column ask_at timestamptz not null default '-infinity';
create index outbox_ask on outbox (connection_id, ask_at) where owner is null and begun;
create index outbox_unknown_message on outbox (message_id) where owner is null and begun;

-- Our own id of the attempt, where a receipt gave it back.
alter table parked_receipts add column message_id uuid;
alter table parked_receipts add column attempt smallint;
create index parked_receipts_attempt on parked_receipts (message_id) where message_id is not null;
