drop function if exists finish_deliveries;

-- Stores the outcomes of attempts: 'delivered', 'failed' (final), or
-- 'pending', due again at p_due. Only if the node still holds the delivery by the
-- given claim. The end of a delivery makes the next one with its order_key due. Returns
-- since when the endpoints of these attempts have been failing; null if they are not.
-- Rows are found by target and seq beside their key, and not by their owner: see
-- claim_deliveries.
--
-- `is not distinct from` keeps the partial index of pending deliveries from being used: it is the smallest one while
-- nothing waits, but with it each row would be looked for among all that wait for its target.
create function finish_deliveries(
  p_now timestamptz, p_account uuid[], p_target uuid[], p_seq bigint[], p_id uuid[], p_node bigint[], p_claimed timestamptz[], p_kind text[],
  p_due timestamptz[], p_status smallint[], p_error text[])
returns table (account_id uuid, endpoint_id uuid, failing_since timestamptz)
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
  v_account uuid[];
  v_endpoint uuid[];
  v_well boolean[];
begin
  with done as (
    update deliveries d set
        status = i.kind, owner = null, claimed_at = null, attempts = d.attempts + 1,
        due_at = coalesce(i.due, d.due_at), last_at = p_now, last_status = i.status, last_error = i.error,
        ended_at = case when i.kind <> 'pending' then p_now end
      from unnest(p_account, p_target, p_seq, p_id, p_node, p_claimed, p_kind, p_due, p_status, p_error)
        as i (account_id, target_id, seq, id, node, claimed, kind, due, status, error)
     where d.account_id = any (array[i.account_id]) and d.target_id = i.target_id and d.seq = i.seq and d.id = i.id
       and d.owner is not distinct from i.node and d.claimed_at = i.claimed
       and d.status is not distinct from 'pending'
    returning d.account_id, d.id, d.target_kind, d.target_id, d.order_key, d.seq, d.status
  ), woken as (
    update deliveries n set due_at = p_now
      from (
        select f.account_id, f.target_id, f.seq, f.id from done, lateral (
          select x.account_id, x.target_id, x.seq, x.id from deliveries x
           where x.status = 'pending' and x.account_id = done.account_id and x.target_id = done.target_id
             and x.order_key = done.order_key and x.seq > done.seq
           order by x.seq limit 1) f
         where done.status <> 'pending'
      ) next
     -- Also if it is due already: claim_deliveries may be postponing it now, and this update waits for that.
     where n.account_id = any (array[next.account_id]) and n.target_id = next.target_id and n.seq = next.seq and n.id = next.id
       and n.owner is null
  ), health as (
    select d.account_id, d.target_id, bool_or(d.status = 'delivered') as well
      from done d where d.target_kind = 'endpoint' group by d.account_id, d.target_id
  )
  select array_agg(h.account_id order by h.account_id, h.target_id),
         array_agg(h.target_id order by h.account_id, h.target_id),
         array_agg(h.well order by h.account_id, h.target_id)
    into v_account, v_endpoint, v_well from health h;

  -- Updates an endpoint only if it changes, since this runs for every attempt.
  update webhook_endpoints e set failing_since = case when not i.well then p_now end
    from unnest(v_account, v_endpoint, v_well) as i (account_id, id, well)
   where e.account_id = any (array[i.account_id]) and e.id = i.id and (e.failing_since is null) <> i.well;
  return query
    select e.account_id, e.id, e.failing_since
      from unnest(v_account, v_endpoint) as i (account_id, id)
      join webhook_endpoints e on e.account_id = any (array[i.account_id]) and e.id = i.id;
end $$;
