-- What a provider calls the parts of a long message, where each has an id and receipts of its own.
-- The message itself goes by `whole_id`, which is no part's (migrations/functions/join_parts.sql).
create table message_parts (
  connection_id uuid not null,
  part_id text not null,
  whole_id text not null,
  -- So many parts make the message: more than are here where some were never taken.
  total smallint not null,
  -- What its receipts said for good: delivered or undelivered.
  status text,
  noted_at timestamptz not null,
  primary key (connection_id, part_id)
);
create index message_parts_whole on message_parts (connection_id, whole_id);
create index message_parts_noted on message_parts (noted_at);
