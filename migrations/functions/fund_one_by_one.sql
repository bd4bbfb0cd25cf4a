drop function if exists fund_one_by_one;

-- Pays an account's items one by one, in their order: from the first pool with the channel and
-- something left, else from the wallet. `funding` is null if nothing covers the item;
-- `pool_until` is the end of the pool's month in which the item counts. The caller has locked the wallet.
create function fund_one_by_one(
  p_of uuid, p_now timestamptz, p_account uuid[], p_channel text[], p_amount bigint[], p_live boolean[], p_take boolean[]
) returns table (item integer, funding text, pool smallint, pool_until timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  r record;
begin
  -- All pools in one order, since functions that only give usage back lock pools without the wallet.
  perform 1 from pools where account_id = p_of order by id for update;
  update pools set used = 0, resets_at = next_reset(p_now) where account_id = p_of and resets_at <= p_now;
  for r in
    select i.n::integer as n, i.channel, i.amount
      from unnest(p_account, p_channel, p_amount, p_live, p_take) with ordinality as i (account_id, channel, amount, live, take, n)
     where i.account_id = p_of and i.live and i.take
     order by i.n
  loop
    item := r.n; funding := null; pool := null; pool_until := null;
    update pools set used = used + 1
     where account_id = p_of and id = (
       select p.id from pools p
        where p.account_id = p_of and r.channel = any (p.channels) and p.used < p.included
        order by p.id limit 1)
    returning 'pool', id, resets_at into funding, pool, pool_until;
    if funding is null then
      update wallets set balance = balance - r.amount, held = held + r.amount
       where account_id = p_of and balance >= r.amount
      returning 'wallet' into funding;
    end if;
    return next;
  end loop;
end $$;
