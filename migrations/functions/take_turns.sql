drop function if exists take_turns;

-- Takes a turn for each recipient of a code, as of the time of that code: exact, whatever
-- node asks, since the row is locked until the transaction ends, and so is counted with
-- what the turn is taken for. Items whose `p_person` is null take none. The others are of
-- different recipients. Returns a row for each item beyond its limit:
--   late = true   it has no turn: the limit is strict, and there were as many within the window
--   late = false  it has one all the same, or there is an end to what is remembered
create function take_turns(
  p_account uuid[], p_person text[], p_at timestamptz[], p_sends smallint[], p_window_minutes smallint[], p_strict boolean[]
) returns table (item integer, late boolean)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  -- Where nothing is refused.
  c_most_remembered constant smallint := 100;
  v_account uuid[];
  v_person text[];
  v_turns integer[];
begin
  with taken as (
    insert into fraud_recipients as r (account_id, recipient, sends, most, idle_at)
      select p_account[n], i.person, array[p_at[n]],
             case when p_strict[n] then p_sends[n] else c_most_remembered end,
             p_at[n] + p_window_minutes[n] * interval '1 minute'
        from unnest(p_person) with ordinality as i (person, n)
       where i.person is not null
       -- In one order on every node: so they never wait for each other in a circle.
       order by p_account[n], i.person collate "C"
    on conflict (account_id, recipient) do update set
      -- What stands first is the oldest, mostly of this window.
      sends = case when r.sends[1] > excluded.sends[1] - (excluded.idle_at - excluded.sends[1]) then r.sends
                   else array(select s from unnest(r.sends) s where s > excluded.sends[1] - (excluded.idle_at - excluded.sends[1]))
              end || excluded.sends,
      most = excluded.most,
      idle_at = greatest(r.idle_at, excluded.idle_at)
    where cardinality(r.sends) < excluded.most
       or (select count(*) from unnest(r.sends) s where s > excluded.sends[1] - (excluded.idle_at - excluded.sends[1])) < excluded.most
    returning r.account_id, r.recipient, cardinality(r.sends) as turns
  )
  select array_agg(t.account_id), array_agg(t.recipient), array_agg(t.turns) into v_account, v_person, v_turns from taken t;

  -- All of them, mostly.
  if cardinality(v_account) = cardinality(array_remove(p_person, null)) and not false = any (p_strict) then
    return;
  end if;
  return query
    select i.n::integer, t.turns is null and p_strict[i.n]
      from unnest(p_person) with ordinality as i (person, n)
      left join unnest(v_account, v_person, v_turns) as t (account_id, person, turns)
        on t.account_id = p_account[i.n] and t.person = i.person
     where i.person is not null and (t.turns is null or t.turns > p_sends[i.n]);
end $$;
