-- How often a recipient was written to is counted over his verifications: a row of its own
-- for each recipient, written with every code, took a third of what the guard takes.

-- When codes were sent, the earliest first, resends included; null while there was one, at
-- started_at. What was resent before this counts once.
alter table verifications add column codes_at timestamptz[];

-- Of a sub-address its mailbox, as it is compared; null for all other recipients.
alter table verifications add column mailbox text;
update verifications set mailbox = regexp_replace(recipient_key, '^([^+@]+)\+[^@]*@', '\1@')
 where recipient_key ~ '^[^+@]+\+[^@]*@';
create index verifications_mailbox on verifications (mailbox, accept_no) where mailbox is not null;

drop function if exists take_turns;
drop function if exists give_back_turns;
drop table fraud_recipients;
