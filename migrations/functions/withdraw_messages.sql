drop function if exists withdraw_messages;

-- Ends messages that were not submitted, with the status p_end: cancelled by the account, withdrawn
-- because their accept was reported as failed, failed for lack of a
-- connection, or expired with their code. p_begun marks messages that were not submitted although their attempt is
-- recorded. With p_unvouched, messages are kept that a later answer has confirmed (vouched), or that another request
-- has accepted: a repeat of a batch accepts the same ids, with another p_taken_up. Releases the money. Returns the
-- ended messages.
create function withdraw_messages(
  p_now timestamptz, p_account uuid[], p_id uuid[], p_begun boolean[],
  p_end text, p_error_code text, p_error_detail text, p_unvouched boolean default false, p_taken_up timestamptz[] default null)
returns table (account_id uuid, id uuid)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_account uuid[];
  v_id uuid[];
begin
  if p_unvouched then
    -- The locks make a concurrent confirmMessages either finish first, or find the message ended.
    for n in 1 .. cardinality(p_id) loop
      -- As whatever ends a recorded attempt does; what has not begun is locked in the outbox first.
      if p_begun[n] then
        perform 1 from messages m where m.account_id = p_account[n] and m.id = p_id[n] for update;
      end if;
      perform 1 from outbox o
        where o.account_id = p_account[n] and o.message_id = p_id[n] and (p_begun[n] or not o.begun) for update;
      if found and not p_begun[n] then
        perform 1 from messages m where m.account_id = p_account[n] and m.id = p_id[n] for update;
      end if;
    end loop;
  else
    -- Locks the rows first: after waiting for a failover, the statement below would see the old hold with the new amount.
    perform 1 from unnest(p_account, p_id, p_begun) as i (account_id, id, begun)
      join outbox o on o.account_id = any (array[i.account_id]) and o.message_id = i.id and (i.begun or not o.begun) for update of o;
  end if;

  with gone as (
    delete from outbox o using unnest(p_account, p_id, p_begun, p_taken_up) as i (account_id, id, begun, taken_up_at), messages m
     where o.account_id = any (array[i.account_id]) and o.message_id = i.id and (i.begun or not o.begun)
       and m.account_id = any (array[i.account_id]) and m.id = i.id
       and not (p_unvouched and (m.vouched is true or o.taken_up_at is distinct from i.taken_up_at))
       and m.status = any (case when i.begun then '{sending,unknown}'::text[] else '{scheduled,queued}' end)
    returning o.account_id, o.message_id, o.bulk_row
  ), ended as (
    update messages m set status = p_end, ended_at = p_now, error_code = p_error_code, error_detail = p_error_detail,
           money = case when m.money = 'held' then 'released' else m.money end,
           money_at = case when m.money = 'held' then p_now else m.money_at end
      from gone where m.account_id = any (array[gone.account_id]) and m.id = gone.message_id
    returning m.account_id, m.id, m.live, m.channel, m.amount, m.funding, m.bulk_job_id, gone.bulk_row
  ), wallet as (
    update wallets w set held = w.held - s.amount, balance = w.balance + s.amount
      from (select e.account_id, sum(e.amount)::bigint as amount from ended e where e.funding = 'wallet'
             group by e.account_id order by e.account_id) s
     where w.account_id = any (array[s.account_id])
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select e.account_id, uuid_at(p_now), 'message.' || p_end, e.id, p_now
        from ended e join accounts c on c.id = any (array[e.account_id])
       where 'message.' || p_end = any (c.event_types)
  ), of_bulk as (
    insert into bulk_moves (accounts, jobs, rows, states)
      select array_agg(e.account_id), array_agg(e.bulk_job_id), array_agg(e.bulk_row),
             array_agg(case when p_end = 'cancelled' then 'cancelled' else 'failed' end)
        from ended e where e.bulk_row is not null having count(*) > 0
  ), counted as (
    insert into message_deltas (account_id, live, hour, channel, failed, cancelled)
      select e.account_id, e.live, date_trunc('hour', p_now, 'UTC'), e.channel,
             case when p_end in ('failed', 'expired') then count(*) else 0 end, case when p_end = 'cancelled' then count(*) else 0 end
        from ended e group by e.account_id, e.live, e.channel
  )
  select array_agg(e.account_id), array_agg(e.id) into v_account, v_id from ended e;

  -- After the wallets, as in all functions.
  update pools p set used = greatest(0, p.used - s.n)
    from (select i.account_id, m.pool_id, q.resets_at, count(*) as n
            from unnest(v_account, v_id) as i (account_id, id)
            join messages m on m.account_id = any (array[i.account_id]) and m.id = i.id
            join pools q on q.account_id = any (array[i.account_id]) and q.id = m.pool_id
           where m.funding = 'pool' and in_pool_month(m.id, m.past_holds, q.resets_at, m.pool_until)
           group by i.account_id, m.pool_id, q.resets_at order by i.account_id, m.pool_id) s
   -- If the pool was reset meanwhile, it does not contain their usage.
   where p.account_id = any (array[s.account_id]) and p.id = s.pool_id and p.resets_at = s.resets_at;
  if exists (select 1 from watched_accounts) then
    perform note_moves(p_now, v_account, v_id);
  end if;
  return query select * from unnest(v_account, v_id);
end $$;
