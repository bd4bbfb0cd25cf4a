-- An account that is asked for again with its key, because the answer was lost with its keys and its first
-- credit, is made once: for good, as a credit is (0029). The account may change afterwards, so that the hash
-- of what was asked for tells a repeat from a mistake.
create table account_requests (
  idempotency_key text primary key,
  body_hash bytea not null,
  account_id uuid not null
);
