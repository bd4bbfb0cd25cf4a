drop function if exists deliver_parked;

-- Applies parked receipts, the oldest first, and deletes them.
create function deliver_parked(p_now timestamptz, p_ids bigint[]) returns void language sql as $$
  with gone as (delete from parked_receipts where id = any (p_ids) returning *)
  select deliver_receipts(p_now, array_agg(g.connection_id), array_agg(g.provider_id), array_agg(g.status), array_agg(g.at),
           array_agg(g.provider_code), array_agg(g.error_code), array_agg(g.detail))
    from (select * from gone order by id) g having count(*) > 0
$$;
