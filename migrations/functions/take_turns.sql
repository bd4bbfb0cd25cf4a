drop function if exists take_turns;

-- Takes a turn for each recipient that has had fewer than `p_most` within its window:
-- exact, whatever node asks, since the row is locked while it is counted. Returns a row
-- for each turn that was taken, and how many the window has with it: who is missing has
-- none. The caller sorts by account and recipient, and brings no recipient twice.
create function take_turns(
  p_now timestamptz, p_account uuid[], p_recipient text[], p_most smallint[], p_window_minutes integer[]
) returns table (account_id uuid, recipient text, turns integer)
language plpgsql
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    insert into fraud_recipients as r (account_id, recipient, sends, most, idle_at)
      select p_account[n], i.recipient, array[p_now], p_most[n], p_now + make_interval(mins => p_window_minutes[n])
        from unnest(p_recipient) with ordinality as i (recipient, n)
    on conflict (account_id, recipient) do update set
      sends = array(select s from unnest(r.sends) s where s > p_now - (excluded.idle_at - p_now)) || p_now,
      most = excluded.most,
      idle_at = excluded.idle_at
    where (select count(*) from unnest(r.sends) s where s > p_now - (excluded.idle_at - p_now)) < excluded.most
    returning r.account_id, r.recipient, cardinality(r.sends);
end $$;
