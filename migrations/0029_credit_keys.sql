-- A credit that is repeated with its key, because the answer to it was lost, credits once: for good, not
-- for a day. What it said is in the row, so that nothing else has to be kept to tell a repeat from a mistake.
alter table ledger add column idempotency_key text;
create unique index ledger_key on ledger (account_id, idempotency_key) where idempotency_key is not null;
