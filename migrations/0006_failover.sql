-- Failover: a message may go over one connection after another.

alter table messages
  -- What its sender was told first, where the message went elsewhere afterwards: the
  -- replay of an answer says what it said. Null where the row itself still says it.
  add column told jsonb,
  -- The holds that came before the present one, the first first, each with what paid for
  -- it and until when: the ledger only grows.
  add column past_holds jsonb;
