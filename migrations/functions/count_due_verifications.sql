drop function if exists count_due_verifications;

-- Counts verifications that are due, in up to `p_limit` rows of verification_looks, each with the
-- verifications that were accepted together; skips rows that another node has locked. Adds their outcomes to the
-- totals, learns from them the first time, and schedules another look at those that may
-- still change: each time after twice their age. Returns how many rows it took.
create function count_due_verifications(p_now timestamptz, p_limit integer, p_half_life_hours double precision)
returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
declare
  -- No receipt comes later than this.
  c_longest constant interval := interval '8 days';
  v_rows uuid[];
  v_row uuid[];
  v_account uuid[];
  v_id uuid[];
  v_first boolean[];
  v_open integer[];
begin
  select array_agg(d.id) into v_rows from (
    select l.id from verification_looks l where l.look_at <= p_now order by l.look_at limit p_limit
       for update skip locked) d;
  if v_rows is null then
    return 0;
  end if;
  select array_agg(l.id), array_agg(i.account_id), array_agg(i.id), array_agg(not l.learned)
    into v_row, v_account, v_id, v_first
    from unnest(v_rows) as r (id) join verification_looks l on l.id = any (array[r.id])
   cross join lateral unnest(l.accounts, l.ids) as i (account_id, id);

  v_open := count_verifications(p_now, v_account, v_id);
  if true = any (v_first) then
    perform learn_channels(p_now, p_half_life_hours,
      array(select v_account[n] from unnest(v_first) with ordinality as i (first, n) where i.first order by n),
      array(select v_id[n] from unnest(v_first) with ordinality as i (first, n) where i.first order by n));
  end if;

  with kept as (
    select v_row[n] as id, array_agg(v_account[n] order by n) as accounts, array_agg(v_id[n] order by n) as ids
      from unnest(v_open) as n group by v_row[n]
  ), again as (
    update verification_looks l set
        accounts = k.accounts, ids = k.ids, learned = true,
        look_at = p_now + least(2 * (p_now - l.started_at), interval '12 hours')
      from kept k where l.id = any (array[k.id]) and l.started_at > p_now - c_longest
    returning l.id
  )
  delete from verification_looks l using unnest(v_rows) as r (id)
   where l.id = any (array[r.id]) and not exists (select 1 from again a where a.id = r.id);
  return cardinality(v_rows);
end $$;
