drop function if exists take_turns;

-- Takes a turn for each recipient that has had fewer than `p_most` within its window:
-- exact, whatever node asks, since the row is locked while it is counted. Returns, for
-- each item, how many the window has with it, or when the next turn is free. The caller
-- sorts by account and recipient, and brings no recipient twice.
create function take_turns(
  p_now timestamptz, p_account uuid[], p_recipient text[], p_most smallint[], p_window_minutes integer[]
) returns table (item integer, turns integer, free_at timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    with taken as (
      insert into fraud_recipients as r (account_id, recipient, sends, most, idle_at)
        select p_account[n], i.recipient, array[p_now], p_most[n], p_now + make_interval(mins => p_window_minutes[n])
          from unnest(p_recipient) with ordinality as i (recipient, n) order by n
      on conflict (account_id, recipient) do update set
        sends = array(select s from unnest(r.sends) s where s > p_now - (excluded.idle_at - p_now)) || p_now,
        most = excluded.most,
        idle_at = excluded.idle_at
      where (select count(*) from unnest(r.sends) s where s > p_now - (excluded.idle_at - p_now)) < excluded.most
      returning r.account_id, r.recipient, cardinality(r.sends) as turns
    )
    select i.n::integer, t.turns,
           -- What was there before this statement: a refused item changed nothing. The turn that
           -- is `p_most` from the end is the one to wait for.
           case when t.turns is null then coalesce(r.sends[cardinality(r.sends) - p_most[i.n] + 1], p_now)
             + make_interval(mins => p_window_minutes[i.n]) end
      from unnest(p_recipient) with ordinality as i (recipient, n)
      left join taken t on t.account_id = p_account[i.n] and t.recipient = i.recipient
      left join fraud_recipients r on r.account_id = p_account[i.n] and r.recipient = i.recipient;
end $$;
