drop function if exists free_deliveries;

-- Releases deliveries that dead nodes held, and those that this node has claimed before p_claimed_before and not finished: by
-- its own clock, since that of another node may be minutes behind. Deliveries with an owner are few, and have an index; without
-- statistics the planner would rather read all deliveries, hence the settings. Returns how many.
create function free_deliveries(p_node bigint, p_claimed_before timestamptz) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_freed integer;
begin
  update deliveries d set owner = null, claimed_at = null
   where d.owner is not null
     and (d.owner = p_node and d.claimed_at < p_claimed_before or not exists (select 1 from nodes n where n.id = d.owner));
  get diagnostics v_freed = row_count;
  return v_freed;
end $$;
