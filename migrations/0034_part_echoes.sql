-- That the id of a receipt which names our own attempt is a part's: a long message has many, and none of them
-- speaks for the whole (migrations/functions/adopt_echoes.sql).
alter table parked_receipts add column of_part boolean not null default false;
