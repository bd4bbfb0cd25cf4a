drop function if exists apply_parked;

-- Gives parked receipts to messages whose submit has been answered meanwhile, the
-- oldest first. Returns how many found theirs.
create function apply_parked(p_now timestamptz) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
declare
  v_ids bigint[];
begin
  select array_agg(f.id) into v_ids from (
    select p.id from parked_receipts p
      join provider_refs r on r.connection_id = p.connection_id and r.provider_id = p.provider_id
     order by p.id limit 1000 for update of p skip locked) f;
  perform deliver_parked(p_now, v_ids);
  return coalesce(cardinality(v_ids), 0);
end $$;
