drop function if exists fold_tallies;

-- Adds the counts of one node to those of all nodes, records the changed keys in fraud_words, and returns the sums. Counts
-- fade as in core/fraud/tally.ts: pressures by `p_leak` per hour without a hold, not below
-- zero; sends and verified by half in every `p_half_life` hours. The longest hold wins. Times that only a clock that was far
-- ahead can have set are not kept.
-- The caller sorts by account and key, so that nodes cannot deadlock. A fold is repeated with its p_fold if its response was
-- lost. One that was added then, or that the server executes only after its repeat, only returns the sums: the unique index of
-- fraud_words decides, even if both run at once.
create function fold_tallies(
  p_fold uuid, p_node bigint, p_now timestamptz, p_half_life double precision, p_account uuid[], p_key text[],
  p_fresh double precision[], p_settled double precision[], p_sends double precision[], p_verified double precision[],
  p_leak double precision[], p_held_until timestamptz[], p_held_by text[], p_holds smallint[]
) returns setof fraud_tallies
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  -- Hours since each key was folded last, and how many of them were without a hold.
  v_hours double precision[];
  v_free_hours double precision[];
  v_held timestamptz[];
  -- Clocks of nodes differ by less than a day, and the longest hold is a day.
  c_latest constant timestamptz := p_now + interval '1 day';
  c_latest_hold constant timestamptz := p_now + interval '2 days';
begin
  loop
    select array_agg(l.hours), array_agg(l.free_hours), array_agg(l.held) into v_hours, v_free_hours, v_held from (
      select greatest(0, extract(epoch from p_now - t.at) / 3600)::double precision as hours,
             greatest(0, extract(epoch from p_now - greatest(t.at, t.held_until)) / 3600)::double precision as free_hours,
             case when t.held_until > c_latest_hold then p_now else t.held_until end as held
        from unnest(p_key) with ordinality as i (key, n)
        join fraud_tallies t on t.account_id = any (array[p_account[n]]) and t.key = i.key
       order by n for update of t) l;
    exit when cardinality(v_hours) = cardinality(p_key);
    -- Inserts missing keys; rare.
    insert into fraud_tallies (account_id, key, at, fresh, settled, sends, verified, holds)
      select p_account[n], i.key, p_now, 0, 0, 0, 0, 0 from unnest(p_key) with ordinality as i (key, n) order by n
    on conflict do nothing;
  end loop;

  insert into fraud_words (fold, node, accounts, keys) values (p_fold, p_node, p_account, p_key)
  on conflict (fold) do nothing;
  if not found then
    return query
      select t.* from unnest(p_key) with ordinality as i (key, n)
        join fraud_tallies t on t.account_id = any (array[p_account[n]]) and t.key = i.key;
    return;
  end if;
  return query
    update fraud_tallies t set
      at = case when t.at > c_latest then p_now else greatest(t.at, p_now) end,
      fresh = greatest(0, greatest(0, t.fresh - p_leak[n] * v_free_hours[n]) + p_fresh[n]),
      settled = greatest(0, greatest(0, t.settled - p_leak[n] * v_free_hours[n]) + p_settled[n]),
      sends = greatest(0, t.sends * power(0.5, v_hours[n] / p_half_life) + p_sends[n]),
      verified = greatest(0, t.verified * power(0.5, v_hours[n] / p_half_life) + p_verified[n]),
      held_until = greatest(v_held[n], p_held_until[n]),
      held_by = case when p_held_until[n] > coalesce(v_held[n], '-infinity') then p_held_by[n] else t.held_by end,
      holds = case when p_held_until[n] > coalesce(v_held[n], '-infinity') then p_holds[n] else t.holds end
    from unnest(p_key) with ordinality as i (key, n)
    where t.account_id = any (array[p_account[n]]) and t.key = i.key
    returning t.*;
end $$;
