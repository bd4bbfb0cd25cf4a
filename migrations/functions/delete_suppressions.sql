drop function if exists delete_suppressions;

-- Deletes these suppressions, if they exist and were not made by the API; returns the deleted rows. Locks them in the order of
-- their keys, as they are inserted. The order and the limit make each look-up one by this key: a plan that was made while the
-- table was empty would read all suppressions of the account for each item.
create function delete_suppressions(p_account uuid[], p_key text[], p_channel text[], p_connection uuid[])
returns setof suppressions
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
begin
  return query
  with found as materialized (
    select f.place
      from (select * from unnest(p_account, p_key, p_channel, p_connection) as u (account_id, key, channel, connection_id)
             order by account_id, key, channel, connection_id) i
     cross join lateral (
       select x.ctid as place from suppressions x
        where x.account_id = any (array[i.account_id]) and x.recipient_key = i.key and x.channel = i.channel
          and x.connection_id is not distinct from i.connection_id and x.source <> 'api'
        order by x.account_id, x.recipient_key, x.channel, x.connection_id limit 1 for update) f
  )
  delete from suppressions s where s.ctid = any (array(select f.place from found f)) returning s.*;
end $$;
