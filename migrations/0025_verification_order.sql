-- Which verification counts for a recipient is said by no row of its own any more: it is the
-- one that was accepted last, of those that not every channel has refused. To take a row by
-- upsert cost as much of a code as its verification; an entry in an index costs a third.

-- Counted up by each accept, whatever node it comes from: never cached, so that what is
-- accepted after another was answered has the higher number.
create sequence verification_accepts as bigint start 2 cache 1;

alter table verifications add column accept_no bigint not null default 0;
-- Of before, the one that counts comes after all others.
update verifications v set accept_no = 1
  from verification_heads h where v.account_id = h.account_id and v.id = h.verification_id;
alter table verifications alter column accept_no set default nextval('verification_accepts');

-- Without the account: an index that has it may be taken, where statistics are missing or old,
-- for looking a verification up by its id, and then reads all of the account's.
create index verifications_recipient on verifications (recipient_key, accept_no);
drop table verification_heads;
