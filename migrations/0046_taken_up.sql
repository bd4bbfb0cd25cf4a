-- When the batch of this message was taken up by the request that accepted it; null for all others. A batch keeps the
-- ids of its messages, so an earlier request may still want to withdraw the same id: it withdraws only what it stored.
alter table outbox add column taken_up_at timestamptz;
