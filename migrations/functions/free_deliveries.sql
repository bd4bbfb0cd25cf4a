drop function if exists free_deliveries;

-- Frees deliveries that dead nodes held, and those that were taken before p_claimed_before and of which nothing
-- was heard. Those in somebody's hands are few, and found by their index: nobody who has not counted the rows would
-- think so, and reads all that were ever told. Returns how many.
create function free_deliveries(p_claimed_before timestamptz) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_freed integer;
begin
  update deliveries d set owner = null, claimed_at = null
   where d.owner is not null
     and (d.claimed_at < p_claimed_before or not exists (select 1 from nodes n where n.id = d.owner));
  get diagnostics v_freed = row_count;
  return v_freed;
end $$;
