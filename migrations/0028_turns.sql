-- Turns are taken with every code, mostly of recipients that have a row: without an index of
-- when each is idle such a row is changed in place. They are swept by where they stand.
drop index fraud_recipients_idle;
