drop function if exists give_back;

-- Releases rows that a node holds and has not begun; a time in p_due changes when they are due.
create function give_back(p_node bigint, p_account uuid[], p_id uuid[], p_due timestamptz[]) returns void
language sql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
  update outbox o set owner = null, due_at = coalesce(i.due_at, o.due_at)
    from unnest(p_account, p_id, p_due) as i (account_id, id, due_at)
   where o.account_id = any (array[i.account_id]) and o.message_id = i.id and o.owner = p_node and not o.begun
$$;
