drop function if exists list_suppressions;

-- A page of an account's suppressions, the newest first, below the id p_before. The orders make each look-up use its own index,
-- also by a plan that was made while the table was empty: by the key, by the channel, or by the account alone.
create function list_suppressions(p_account uuid, p_key text, p_channel text, p_before uuid, p_limit integer)
returns setof suppressions
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set jit = off
as $$
begin
  if p_key is not null then
    return query
    with found as materialized (
      select x.* from suppressions x
       where x.account_id = any (array[p_account]) and x.recipient_key = p_key
       order by x.account_id, x.recipient_key, x.channel, x.connection_id
    )
    select f.* from found f where f.id < p_before and (p_channel is null or f.channel = p_channel)
     order by f.id desc limit p_limit;
  elsif p_channel is not null then
    return query
    select x.* from suppressions x
     where x.account_id = any (array[p_account]) and x.channel >= p_channel and (x.channel, x.id) < (p_channel, p_before)
     order by x.account_id desc, x.channel desc, x.id desc limit p_limit;
  else
    return query
    select x.* from suppressions x where x.account_id = any (array[p_account]) and x.id < p_before
     order by x.account_id desc, x.id desc limit p_limit;
  end if;
end $$;
