drop function if exists is_live;

-- Whether a message was sent with a live key. A function, so that a query that needs it for few rows does not open all
-- partitions.
create function is_live(p_account uuid, p_message uuid) returns boolean
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
begin
  return exists (select 1 from messages m where m.account_id = p_account and m.id = p_message and m.live);
end $$;
