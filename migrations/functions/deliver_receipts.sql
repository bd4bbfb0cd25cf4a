drop function if exists deliver_receipts;

-- Applies receipts one by one, since several receipts of one message must be applied in their order. Locks all
-- that they will change first, messages before wallets before pools, each in the usual order, so that this
-- cannot deadlock with nodes that settle the same messages.
create function deliver_receipts(
  p_now timestamptz, p_connection uuid[], p_provider_id text[], p_status text[], p_at timestamptz[],
  p_provider_code text[], p_error_code text[], p_detail text[])
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_account uuid[];
  v_id uuid[];
  v_status text[];
  v_ids uuid[];
  v_low uuid;
  v_high uuid;
  v_wallets uuid[];
  v_pools uuid[];
begin
  select array_agg(r.account_id), array_agg(r.message_id), array_agg(i.status), array_agg(r.message_id order by r.message_id)
    into v_account, v_id, v_status, v_ids
    from unnest(p_connection, p_provider_id, p_status) as i (connection, provider_id, status)
    join provider_refs r on r.connection_id = any (array[i.connection]) and r.provider_id = i.provider_id;
  v_low := v_ids[1];
  v_high := v_ids[cardinality(v_ids)];
  -- Wallets and pools are only locked for receipts that move money.
  select array_agg(l.account_id) filter (where l.funding = 'wallet' and (l.unknown or l.status = 'failed')),
         array_agg(l.account_id) filter (where l.funding = 'pool' and l.status = 'failed')
    into v_wallets, v_pools
    from (
      select m.account_id, m.funding, m.status = 'unknown' as unknown, i.status
        from unnest(v_account, v_status) with ordinality as i (account_id, status, n)
        join messages m on m.account_id = any (array[i.account_id]) and m.id = any (v_id[n:n]) and in_months(m.id, v_low, v_high)
       order by i.account_id, v_id[n] for update of m) l;
  perform 1 from wallets where account_id = any (v_wallets) order by account_id for update;
  perform 1 from pools where account_id = any (v_pools) order by account_id, id for update;

  for n in 1 .. coalesce(cardinality(p_connection), 0) loop
    perform apply_receipts(p_now, p_connection[n:n], p_provider_id[n:n], p_status[n:n], p_at[n:n],
      p_provider_code[n:n], p_error_code[n:n], p_detail[n:n], array[uuid_at(p_now)]);
  end loop;
end $$;
