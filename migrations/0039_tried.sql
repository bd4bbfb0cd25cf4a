-- That a message which waits had attempts that were not taken: a receipt may tell of one of them all the same
-- (migrations/functions/adopt_echoes.sql).
alter table outbox add column tried boolean not null default false;
create index outbox_tried on outbox (message_id) where tried and not begun;
