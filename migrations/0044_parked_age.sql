-- Receipts for nobody may be many: those that came of late are found among them by an index.
create index parked_receipts_age on parked_receipts (received_at);
