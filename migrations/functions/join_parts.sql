drop function if exists join_parts;

-- Combines receipts of parts into receipts of their messages: delivered when all parts are, undelivered with the
-- first part that is not. Receipts of parts do not have a message's id, and so are parked; this takes them from
-- there. Called after the commit that parks a receipt, and after the one that stores parts: the later of the two
-- calls sees both. Returns the indexes of the ids that are parts.
create function join_parts(p_now timestamptz, p_connection uuid[], p_part_id text[]) returns setof integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
declare
  w record;
  v_failed boolean;
  v_at timestamptz;
  v_code text;
  v_detail text;
  -- The receipts of whole messages.
  v_connection uuid[] := '{}';
  v_whole text[] := '{}';
  v_statuses text[] := '{}';
  v_ats timestamptz[] := '{}';
  v_codes text[] := '{}';
  v_details text[] := '{}';
begin
  if not exists (select 1 from message_parts) then
    return;
  end if;
  return query
    select i.n::integer from unnest(p_connection, p_part_id) with ordinality as i (connection, part_id, n)
     cross join lateral (select 1 from message_parts x where x.connection_id = i.connection and x.part_id = i.part_id limit 1) m;
  for w in
    select distinct i.connection as connection_id, m.whole_id
      from unnest(p_connection, p_part_id) as i (connection, part_id)
     cross join lateral (select x.whole_id from message_parts x where x.connection_id = i.connection and x.part_id = i.part_id limit 1) m
     order by i.connection, m.whole_id
  loop
    -- `is not distinct from` keeps the plans from looking among all parts of the connection.
    -- If two nodes get receipts for parts of one message, the second waits here, and then sees the first one's changes.
    perform 1 from message_parts m where m.whole_id = w.whole_id and m.connection_id is not distinct from w.connection_id
      order by m.part_id for update;
    with gone as (
      delete from parked_receipts p using message_parts m
       where m.whole_id = w.whole_id and m.connection_id is not distinct from w.connection_id
         and p.connection_id = any (array[m.connection_id]) and p.provider_id = m.part_id
      returning p.id, p.provider_id, p.status, p.at, p.provider_code, p.detail
    ), final as (
      select distinct on (g.provider_id) g.provider_id, g.at, g.provider_code, g.detail,
             case when g.status in ('delivered', 'read') then 'delivered' else 'undelivered' end as status
        from gone g where g.status <> 'sent' order by g.provider_id, g.id
    ), told as (
      update message_parts m set status = f.status from final f
       where m.whole_id = w.whole_id and m.connection_id is not distinct from w.connection_id and m.part_id = f.provider_id and m.status is null
      returning f.status, f.at, f.provider_code, f.detail
    )
    select bool_or(t.status = 'undelivered'), max(t.at),
           max(t.provider_code) filter (where t.status = 'undelivered'),
           max(t.detail) filter (where t.status = 'undelivered')
      into v_failed, v_at, v_code, v_detail from told t;
    continue when v_failed is null;
    continue when not v_failed and exists (
      select 1 from message_parts m where m.whole_id = w.whole_id and m.connection_id is not distinct from w.connection_id
      having count(*) filter (where m.status = 'delivered') < max(m.total));
    v_connection := array_append(v_connection, w.connection_id);
    v_whole := array_append(v_whole, w.whole_id);
    v_statuses := array_append(v_statuses, case when v_failed then 'undelivered' else 'delivered' end);
    v_ats := array_append(v_ats, v_at);
    v_codes := array_append(v_codes, v_code);
    v_details := array_append(v_details, v_detail);
  end loop;
  perform deliver_receipts(p_now, v_connection, v_whole, v_statuses, v_ats, v_codes,
    array_fill(null::text, array[cardinality(v_whole)]), v_details);
end $$;
