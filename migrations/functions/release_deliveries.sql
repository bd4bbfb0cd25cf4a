drop function if exists release_deliveries;

-- Gives back deliveries that a node has claimed and not attempted, if it still holds them by these claims. Rows are found by
-- target and seq beside their key: see claim_deliveries.
create function release_deliveries(
  p_account uuid[], p_target uuid[], p_seq bigint[], p_id uuid[], p_node bigint[], p_claimed timestamptz[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  update deliveries d set owner = null, claimed_at = null
    from unnest(p_account, p_target, p_seq, p_id, p_node, p_claimed) as i (account_id, target_id, seq, id, node, claimed)
   where d.account_id = any (array[i.account_id]) and d.target_id = i.target_id and d.seq = i.seq and d.id = i.id
     and d.owner is not distinct from i.node and d.claimed_at = i.claimed;
end $$;
