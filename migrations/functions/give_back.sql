drop function if exists give_back;

-- Gives back what a node holds and has not begun.
create function give_back(p_node bigint, p_account uuid[], p_id uuid[]) returns void
language sql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
  update outbox o set owner = null from unnest(p_account, p_id) as i (account_id, id)
   where o.account_id = i.account_id and o.message_id = i.id and o.owner = p_node and not o.begun
$$;
