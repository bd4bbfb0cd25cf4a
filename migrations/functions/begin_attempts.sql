drop function if exists begin_attempts;

-- Records attempts before the provider is called. Returns the items that this node
-- may submit: it still holds them, and they were not cancelled meanwhile. A repeated
-- call (its answer was lost) has the same p_now, and returns what the first one began. If the first call is executed only
-- after that, it begins nothing anew, even if the attempt has been settled and the node holds the message again.
-- Partitions are ranges of ids: without p_low and p_high, the bounds of p_id, each call would
-- open all of them, which takes a third of its time with two years of partitions. The bounds are
-- arguments, since the plan needs them before it runs.
create function begin_attempts(
  p_node bigint, p_now timestamptz, p_repeated boolean, p_account uuid[], p_id uuid[], p_low uuid, p_high uuid)
returns table (item integer, attempt smallint)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_begun integer;
  v_lost integer[];
  v_unknown integer[];
begin
  if exists (select 1 from watched_accounts) then
    perform note_moves(p_now, p_account, p_id);
  end if;

  if p_repeated then
    select array_agg(l.n), array_agg(l.n) filter (where l.status = 'unknown') into v_lost, v_unknown
      from (
        select i.n::integer as n, m.status from unnest(p_account, p_id) with ordinality as i (account_id, id, n)
          join messages m on m.account_id = any (array[i.account_id]) and m.id = any (p_id[i.n:i.n]) and in_months(m.id, p_low, p_high)
          join outbox o on o.account_id = any (array[i.account_id]) and o.message_id = i.id
         where m.attempt_at = p_now and o.begun
           -- The words of reclaim_from_dead: what is unknown for another reason has been made.
           and (m.status = 'sending' or m.status = 'unknown' and m.error_detail = 'the process ended while the provider was being asked')
           and not exists (select 1 from nodes x where x.id = o.owner)
           for update of m, o) l;
    if v_lost is not null then
      update outbox o set owner = p_node, begun = (n <> all (coalesce(v_unknown, '{}')))
        from unnest(v_lost) as n
       where o.account_id = any (array[p_account[n]]) and o.message_id = p_id[n];
      update messages m set status = 'queued', settled_at = p_now, unknown_at = null, error_detail = null,
             past_attempts = coalesce(m.past_attempts, '[]') || jsonb_build_object(
               'attempt', m.attempt, 'at', m.attempt_at, 'settledAt', p_now, 'connection', m.connection_id, 'counted', true,
               'providerCode', null, 'detail', 'the attempt was recorded but not made')
        from unnest(v_unknown) as n
       where m.account_id = any (array[p_account[n]]) and m.id = any (p_id[n:n]) and in_months(m.id, p_low, p_high);
    end if;
  end if;

  return query
  with mine as (
    update outbox o set begun = true
      from unnest(p_account, p_id) with ordinality as i (account_id, id, n)
     where o.account_id = any (array[i.account_id]) and o.message_id = i.id and o.owner = p_node and (not o.begun or p_repeated)
    returning o.account_id, i.n
  )
  update messages m set
      status = 'sending',
      attempt = case when m.status = 'sending' then m.attempt else m.attempt + 1 end,
      attempt_at = p_now
    from mine
   where m.account_id = any (array[mine.account_id]) and m.id = any (p_id[mine.n:mine.n]) and in_months(m.id, p_low, p_high)
     and (m.status in ('queued', 'scheduled') and (m.attempt_at = p_now and m.settled_at > p_now) is not true
          or (p_repeated and m.status = 'sending' and m.attempt_at = p_now))
  returning mine.n::integer, m.attempt;
  get diagnostics v_begun = row_count;

  -- Rare: the attempt of this very call was made before, and settled.
  if v_begun < cardinality(p_id) then
    update outbox o set begun = false
      from unnest(p_account, p_id) as i (account_id, id)
     where o.account_id = any (array[i.account_id]) and o.message_id = i.id and o.owner = p_node and o.begun
       and exists (
         select 1 from messages m
          where m.account_id = o.account_id and m.id = any (just(o.message_id)) and m.status in ('queued', 'scheduled'));
  end if;
end $$;
