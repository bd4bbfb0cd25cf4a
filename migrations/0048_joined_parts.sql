-- Long messages that were joined from parts without an id of the provider: only their content tells a part that is
-- delivered again, since its acknowledgement was lost, from a new one.
create table inbound_joined (
  connection_id uuid not null,
  sender text not null,
  recipient text not null,
  reference text not null,
  -- The digests of all parts in their order, 16 octets each.
  digests bytea not null,
  joined_at timestamptz not null,
  primary key (connection_id, sender, recipient, reference)
);
create index inbound_joined_age on inbound_joined (joined_at);

-- The provider gave it no id.
alter table inbound_parts add column unnamed boolean not null default false;
