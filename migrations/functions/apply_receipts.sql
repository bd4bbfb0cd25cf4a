drop function if exists apply_receipts;

-- Applies delivery receipts, in any order and any number of times: statuses only
-- move forward. A receipt with an unknown provider id is parked. A receipt
-- `failed` has an error code: the provider refused the message after all, and its money
-- is released, or refunded if it was captured.
create function apply_receipts(
  p_now timestamptz, p_connection uuid[], p_provider_id text[], p_status text[], p_at timestamptz[],
  p_provider_code text[], p_error_code text[], p_detail text[], p_event uuid[]
) returns table (item integer, status text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_item integer[];
  v_status text[];
  v_account uuid[];
  v_id uuid[];
  v_moved_account uuid[];
  v_moved uuid[];
  -- The items whose message is known, and its key; v_ids are the message ids, sorted.
  v_known integer[];
  v_of_account uuid[];
  v_of uuid[];
  v_ids uuid[];
  v_low uuid;
  v_high uuid;
begin
  -- In the order in which all functions lock messages.
  select array_agg(i.n::integer order by r.account_id, r.message_id), array_agg(r.account_id order by r.account_id, r.message_id),
         array_agg(r.message_id order by r.account_id, r.message_id), array_agg(r.message_id order by r.message_id)
    into v_known, v_of_account, v_of, v_ids
    from unnest(p_connection, p_provider_id) with ordinality as i (connection, provider_id, n)
    join provider_refs r on r.connection_id = any (array[i.connection]) and r.provider_id = i.provider_id;
  -- Also receipts whose id became known after the look-up above: the function that stored the id may have found
  -- nothing parked yet, but apply_parked will.
  if v_known is null or cardinality(v_known) < cardinality(p_connection) then
    insert into parked_receipts (connection_id, provider_id, status, at, provider_code, error_code, detail, received_at)
      select i.connection, i.provider_id, p_status[n], p_at[n], p_provider_code[n], p_error_code[n], p_detail[n], p_now
        from unnest(p_connection, p_provider_id) with ordinality as i (connection, provider_id, n)
       where i.n <> all (coalesce(v_known, '{}'));
  end if;
  if v_known is null then
    return;
  end if;
  -- Partitions are ranges of ids: without bounds each call would open all of them.
  v_low := v_ids[1];
  v_high := v_ids[cardinality(v_ids)];

  -- Locked in a statement of its own, so that the statement below sees wallets with all captures that it
  -- refunds: a capture that is committed while it waits would violate the wallet's checks (see the README).
  if 'failed' = any (p_status) then
    perform 1 from unnest(v_of_account) with ordinality as i (account_id, place)
      join messages m on m.account_id = any (array[i.account_id]) and m.id = any (v_of[place:place]) and in_months(m.id, v_low, v_high)
     order by i.place for update of m;
  end if;

  with matched as (
    select i.account_id, p_status[n] as status, coalesce(p_at[n], p_now) as at,
           p_provider_code[n] as provider_code, p_error_code[n] as error_code, p_detail[n] as detail,
           p_event[n] as event, n, place
      from unnest(v_of_account, v_known) with ordinality as i (account_id, n, place)
  ), applied as (
    update messages m set
      status = i.status,
      money = case when m.money not in ('held', 'captured') then m.money
                   when i.status = 'failed' then 'released' else 'captured' end,
      money_at = case when m.money = 'held' or (m.money = 'captured' and i.status = 'failed') then p_now
                      else m.money_at end,
      -- For a failed message, it tells whether the message was captured before.
      sent_at = case when i.status = 'failed' then m.sent_at else coalesce(m.sent_at, p_now) end,
      delivered_at = case when i.status in ('delivered', 'read') then coalesce(m.delivered_at, i.at) else m.delivered_at end,
      read_at = case when i.status = 'read' then i.at else m.read_at end,
      read_after = case when i.status = 'read' then m.status else m.read_after end,
      ended_at = case when i.status in ('undelivered', 'failed') then i.at else m.ended_at end,
      -- Some gateways give a sentence as the code. It must not quote the message; the text of an OTP is not stored.
      provider_code = case when i.provider_code ~ '\s' and (m.message_type = 'otp'
                             or (length(m.content->>'text') >= 4 and strpos(i.provider_code, m.content->>'text') > 0))
                           then 'withheld' else coalesce(i.provider_code, m.provider_code) end,
      error_code = coalesce(i.error_code, m.error_code),
      error_detail = coalesce(i.detail, m.error_detail)
    from matched i
    where m.account_id = any (array[i.account_id]) and m.id = any (v_of[place:place]) and in_months(m.id, v_low, v_high)
      -- After a failover, receipts of the earlier connection belong to an attempt that was not accepted.
      and m.connection_id = p_connection[n] and receipt_moves(m.status, i.status)
    returning m.account_id, m.id, m.live, m.channel, m.status, m.read_after, m.amount, m.funding, m.money, m.sent_at,
              m.bulk_job_id, i.event, i.n
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select a.account_id, a.event, 'message.' || a.status, a.id, p_now
        from applied a join accounts c on c.id = any (array[a.account_id])
       where c.event_types <> '{}' and 'message.' || a.status = any (c.event_types)
  ), settled as (
    -- Only an unknown message still has an outbox row: the receipt settles it.
    delete from outbox o using applied a
     where o.account_id = any (array[a.account_id]) and o.message_id = a.id and o.begun
    returning o.account_id, o.message_id, a.bulk_job_id, o.bulk_row, a.status
  ), of_bulk as (
    insert into bulk_moves (accounts, jobs, rows, states)
      select array_agg(s.account_id), array_agg(s.bulk_job_id), array_agg(s.bulk_row),
             array_agg(case when s.status = 'failed' then 'failed' else 'sent' end)
        from settled s where s.bulk_row is not null having count(*) > 0
  ), moved as (
    select a.account_id, a.amount,
           case when a.money = 'captured' then 'capture' when a.sent_at is null then 'release' else 'refund' end as how
      from applied a left join settled s on s.account_id = a.account_id and s.message_id = a.id
     where a.funding = 'wallet' and (a.money = 'released' or (a.money = 'captured' and s.message_id is not null))
  ), wallet as (
    update wallets w set
      held = w.held - s.captured - s.released,
      captured = w.captured + s.captured - s.refunded,
      balance = w.balance + s.released + s.refunded
      from (
        select m.account_id,
               coalesce(sum(m.amount) filter (where m.how = 'capture'), 0)::bigint as captured,
               coalesce(sum(m.amount) filter (where m.how = 'release'), 0)::bigint as released,
               coalesce(sum(m.amount) filter (where m.how = 'refund'), 0)::bigint as refunded
          from moved m group by m.account_id order by m.account_id
      ) s
     where w.account_id = any (array[s.account_id])
  ), counted as (
    insert into message_deltas (account_id, live, hour, channel, sent, delivered, undelivered, failed, cost)
      select a.account_id, a.live, date_trunc('hour', p_now, 'UTC'), a.channel,
             count(*) filter (where s.message_id is not null and a.status <> 'failed'),
             count(*) filter (where a.status = 'delivered' or (a.status = 'read' and a.read_after <> 'delivered')),
             count(*) filter (where a.status = 'undelivered'), count(*) filter (where a.status = 'failed'),
             coalesce(sum(case when a.funding <> 'wallet' then 0
                               when a.status = 'failed' and a.sent_at is not null then -a.amount
                               when a.status <> 'failed' and s.message_id is not null then a.amount else 0 end), 0)
        from applied a left join settled s on s.account_id = a.account_id and s.message_id = a.id
       group by a.account_id, a.live, a.channel
  )
  select array_agg(a.n), array_agg(a.status),
         array_agg(a.account_id) filter (where a.status = 'failed' and a.funding = 'pool'),
         array_agg(a.id) filter (where a.status = 'failed' and a.funding = 'pool'),
         array_agg(a.account_id), array_agg(a.id)
    into v_item, v_status, v_account, v_id, v_moved_account, v_moved from applied a;
  return query select * from unnest(v_item, v_status);

  -- Rare, and skipped where no item needs it.
  if v_id is not null then
    update pools p set used = greatest(0, p.used - s.n)
      from (
        select i.account_id, m.pool_id, q.resets_at, count(*) as n
          from unnest(v_account, v_id) as i (account_id, id)
          join messages m on m.account_id = any (array[i.account_id]) and m.id = i.id
          join pools q on q.account_id = any (array[i.account_id]) and q.id = m.pool_id
         where in_pool_month(m.id, m.past_holds, q.resets_at, m.pool_until)
         group by i.account_id, m.pool_id, q.resets_at order by i.account_id, m.pool_id
      ) s
     -- If the pool was reset meanwhile, it does not contain their usage.
     where p.account_id = any (array[s.account_id]) and p.id = s.pool_id and p.resets_at = s.resets_at;
  end if;
  if exists (select 1 from watched_accounts) then
    perform note_moves(p_now, v_moved_account, v_moved);
  end if;
end $$;
