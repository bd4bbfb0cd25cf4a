-- Sweeps find what is old by an index: without it each read all keys of a day, every minute.
create index idempotency_age on idempotency (created_at);
