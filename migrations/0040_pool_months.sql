-- The end of the month in which a pool counted the message: where a month turned between its request and its
-- accept, or by the clock of another node, that is not the month of its id. Null for what was accepted before.
alter table messages add column pool_until timestamptz;

-- The highest id that a pool of the account ever had: messages name their pool by it, so none is given twice.
alter table accounts add column last_pool smallint not null default 0;
update accounts a set last_pool = p.id
  from (select account_id, max(id) as id from pools group by account_id) p
 where p.account_id = a.id;
