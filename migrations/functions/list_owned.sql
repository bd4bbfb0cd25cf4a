drop function if exists list_owned;

-- The rows of the outbox that a node holds, except the messages p_held, in a stretch of p_pages pages from p_from on. By
-- pages: an index by owner would have to be written with every send, and a backlog may have millions of rows. `not in` is
-- hashed, however many messages the node holds. Parallel workers would read the whole outbox.
create function list_owned(p_node bigint, p_held uuid[], p_from bigint, p_pages integer)
returns table (account_id uuid, message_id uuid, connection_id uuid, begun boolean, attempt smallint)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set max_parallel_workers_per_gather = 0
set jit = off
as $$
begin
  return query
  with owned as materialized (
    select o.account_id, o.message_id, o.connection_id, o.begun from outbox o
     where o.ctid >= format('(%s,0)', p_from)::tid and o.ctid < format('(%s,0)', p_from + p_pages)::tid
       and o.owner = p_node
  )
  select o.account_id, o.message_id, o.connection_id, o.begun, m.attempt
    from owned o
   cross join lateral (
     select x.attempt from messages x where x.account_id = o.account_id and x.id = o.message_id limit 1) m
   where o.message_id not in (select unnest(p_held));
end $$;
