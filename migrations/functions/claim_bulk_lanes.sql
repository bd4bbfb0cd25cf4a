drop function if exists claim_bulk_lanes;

-- Claims lanes that no live node holds and whose account has jobs to send; also
-- lanes that are stored as this node's but not in p_held, the ones that it knows of, because an
-- answer was lost. Does not wait: a lane in which a dead node's last statement
-- is still running is claimed later.
create function claim_bulk_lanes(p_node bigint, p_limit integer, p_held uuid[])
returns table (account_id uuid, fence bigint)
language plpgsql
as $$
#variable_conflict use_column
declare
  r record;
begin
  for r in
    select l.account_id from bulk_lanes l
     where (l.node is null or not exists (select 1 from nodes n where n.id = l.node)
            or l.node = p_node and l.account_id <> all (p_held))
       and exists (
         select 1 from bulk_jobs j where j.account_id = l.account_id and j.status in ('queued', 'running') and j.ended_at is null)
     order by l.account_id limit p_limit for update skip locked
  loop
    continue when not pg_try_advisory_xact_lock(bulk_lock(r.account_id));
    update bulk_lanes l set node = p_node, fence = l.fence + 1 where l.account_id = r.account_id
      returning l.account_id, l.fence into account_id, fence;
    return next;
  end loop;
end $$;
