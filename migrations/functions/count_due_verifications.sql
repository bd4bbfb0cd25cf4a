drop function if exists count_due_verifications;

-- Looks at the verifications that are due, at most `p_limit` rows of those that were accepted
-- together, passing over what another node looks at: counts what became of them, learns
-- once from those that were given enough time, and says when to look again: each time after
-- twice its age. Returns how many rows it took.
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
  -- A code is valid for ten minutes at most; a receipt may come a little later.
  c_ripe constant interval := interval '15 minutes';
  -- No receipt comes later.
  c_longest constant interval := interval '8 days';
  v_rows uuid[];
  v_row uuid[];
  v_account uuid[];
  v_id uuid[];
  v_unlearned boolean[];
  v_ripe boolean[];
  v_open integer[];
begin
  select array_agg(d.id) into v_rows from (
    select l.id from verification_looks l where l.look_at <= p_now order by l.look_at limit p_limit
       for update skip locked) d;
  if v_rows is null then
    return 0;
  end if;
  select array_agg(l.id), array_agg(i.account_id), array_agg(i.id), array_agg(not l.learned),
         array_agg(not l.learned and l.started_at <= p_now - c_ripe)
    into v_row, v_account, v_id, v_unlearned, v_ripe
    from unnest(v_rows) as r (id) join verification_looks l on l.id = r.id
   cross join lateral unnest(l.accounts, l.ids) as i (account_id, id);

  v_open := count_verifications(p_now, v_account, v_id);
  if true = any (v_ripe) then
    perform learn_channels(p_now, p_half_life_hours,
      array(select v_account[n] from unnest(v_ripe) with ordinality as i (ripe, n) where i.ripe order by n),
      array(select v_id[n] from unnest(v_ripe) with ordinality as i (ripe, n) where i.ripe order by n));
  end if;

  with kept as (
    -- What is still to be learned from stays, whole, even where nothing of it changes any more.
    select v_row[i.n] as id, array_agg(v_account[i.n] order by i.n) as accounts, array_agg(i.id order by i.n) as ids
      from unnest(v_id) with ordinality as i (id, n)
     where (v_unlearned[i.n] and not v_ripe[i.n]) or i.n = any (v_open)
     group by v_row[i.n]
  ), again as (
    update verification_looks l set
        accounts = k.accounts, ids = k.ids, learned = l.learned or l.started_at <= p_now - c_ripe,
        look_at = p_now + least(greatest(2 * (p_now - l.started_at), interval '20 seconds'), interval '12 hours')
      from kept k where l.id = k.id and l.started_at > p_now - c_longest
    returning l.id
  )
  delete from verification_looks l using unnest(v_rows) as r (id)
   where l.id = r.id and not exists (select 1 from again a where a.id = r.id);
  return cardinality(v_rows);
end $$;
