drop function if exists apply_receipts;

-- Applies delivery receipts, in any order and any number of times: statuses only
-- move forward. A receipt for an id that nobody knows yet is parked.
create function apply_receipts(
  p_now timestamptz, p_connection uuid[], p_provider_id text[], p_status text[], p_at timestamptz[],
  p_provider_code text[], p_detail text[], p_event uuid[]
) returns table (item integer, status text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  insert into parked_receipts (connection_id, provider_id, status, at, provider_code, detail, received_at)
    select i.connection, i.provider_id, i.status, i.at, i.provider_code, i.detail, p_now
      from unnest(p_connection, p_provider_id, p_status, p_at, p_provider_code, p_detail)
        as i (connection, provider_id, status, at, provider_code, detail)
     where not exists (
       select 1 from provider_refs r where r.connection_id = i.connection and r.provider_id = i.provider_id);

  return query
  with matched as (
    select r.account_id, r.message_id, i.status, coalesce(i.at, p_now) as at, i.provider_code, i.detail, i.event, i.n
      from unnest(p_connection, p_provider_id, p_status, p_at, p_provider_code, p_detail, p_event) with ordinality
        as i (connection, provider_id, status, at, provider_code, detail, event, n)
      join provider_refs r on r.connection_id = i.connection and r.provider_id = i.provider_id
  ), applied as (
    update messages m set
      status = i.status,
      money = case when m.money = 'held' then 'captured' else m.money end,
      money_at = case when m.money = 'held' then p_now else m.money_at end,
      sent_at = coalesce(m.sent_at, p_now),
      delivered_at = case when i.status in ('delivered', 'read') then coalesce(m.delivered_at, i.at) else m.delivered_at end,
      read_at = case when i.status = 'read' then i.at else m.read_at end,
      ended_at = case when i.status = 'undelivered' then i.at else m.ended_at end,
      provider_code = coalesce(i.provider_code, m.provider_code),
      error_detail = coalesce(i.detail, m.error_detail)
    from matched i
    where m.account_id = i.account_id and m.id = i.message_id and receipt_moves(m.status, i.status)
    returning m.account_id, m.id, m.status, m.amount, m.funding, m.money, m.money_at, i.event, i.n
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select a.account_id, a.event, 'message.' || a.status, a.id, p_now
        from applied a join accounts c on c.id = a.account_id
       where c.event_types <> '{}' and 'message.' || a.status = any (c.event_types)
  ), settled as (
    -- Only an unknown message still has a row here: the receipt says that it was taken.
    delete from outbox o using applied a
     where o.account_id = a.account_id and o.message_id = a.id and o.begun
    returning o.account_id, o.message_id
  ), wallet as (
    update wallets w set held = w.held - s.amount, captured = w.captured + s.amount
      from (
        select a.account_id, sum(a.amount)::bigint as amount
          from applied a join settled using (account_id)
         where settled.message_id = a.id and a.funding = 'wallet'
         group by a.account_id order by a.account_id
      ) s
     where w.account_id = s.account_id
  )
  select a.n::integer, a.status from applied a;
end $$;
