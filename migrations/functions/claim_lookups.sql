drop function if exists claim_lookups;

-- Claims unknown messages whose look-up at the provider is due, at most p_limit for each connection, and
-- schedules their next look-up before this one is made: a crash in between only delays it.
-- The first call for a message only schedules its first look-up. p_waits_ms are the pauses before
-- each look-up; the last one repeats.
create function claim_lookups(p_now timestamptz, p_connection uuid[], p_limit integer[], p_waits_ms integer[])
returns table (account_id uuid, id uuid, connection_id uuid, attempt smallint, asks smallint)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_account uuid[];
  v_id uuid[];
  v_connection uuid[];
  v_asks smallint[];
begin
  with due as (
    select d.account_id, d.message_id
      from unnest(p_connection, p_limit) as c (connection_id, n),
           lateral (
             select q.account_id, q.message_id from outbox q
              where q.connection_id = c.connection_id and q.ask_at <= p_now and q.owner is null and q.begun
              order by q.ask_at limit c.n for update skip locked
           ) d
  ), planned as (
    update outbox o set asks = least(o.asks + 1, 32000),
           ask_at = p_now + interval '1 ms' * p_waits_ms[least(o.asks + 1, cardinality(p_waits_ms))]
      from due
     where o.account_id = any (array[due.account_id]) and o.message_id = due.message_id
    returning o.account_id, o.message_id, o.connection_id, o.asks
  )
  select array_agg(p.account_id), array_agg(p.message_id), array_agg(p.connection_id), array_agg((p.asks - 1)::smallint)
    into v_account, v_id, v_connection, v_asks
    from planned p;
  if v_id is null then
    return;
  end if;
  return query
    select m.account_id, m.id, v_connection[n], m.attempt, v_asks[n]
      from unnest(v_account, v_id) with ordinality as p (account_id, id, n)
      join messages m on m.account_id = any (array[p.account_id]) and m.id = p.id
     where m.status = 'unknown';
end $$;
