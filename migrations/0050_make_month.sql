-- Partitions are made one by one (functions/make_month.sql), and no longer those of all tables together.

drop function ensure_month(date);
