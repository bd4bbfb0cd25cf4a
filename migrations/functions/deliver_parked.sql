drop function if exists deliver_parked;

-- One at a time: several receipts of one message must apply in their order.
create function deliver_parked(p_now timestamptz, p_ids bigint[]) returns void language plpgsql as $$
declare
  r record;
begin
  for r in
    with gone as (delete from parked_receipts where id = any (p_ids) returning *) select * from gone order by id
  loop
    perform apply_receipts(p_now, array[r.connection_id], array[r.provider_id], array[r.status], array[r.at],
      array[r.provider_code], array[r.error_code], array[r.detail], array[uuid_at(p_now)]);
  end loop;
end $$;
