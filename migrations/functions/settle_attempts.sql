drop function if exists settle_attempts;

-- Settles attempts. The caller has decided the message's status by the outcome
-- (core/messages/transitions.ts):
--   'sent'     accepted by the provider: capture
--   'failed'   rejected: release
--   'queued'   not accepted: due again at p_due
--   'unknown'  maybe accepted: the hold stays until p_due
-- An item whose attempt is no longer the message's current one changes nothing.
-- `p_secret` is the sealed content of a message that is due again, if the outbox has none.
-- `p_uncounted` marks throttled attempts, which do not count. Any number of them may follow each other, so
-- of a sequence only the first and the latest are kept. `p_forget_key` is
-- the idempotency key of an answer that must not be replayed (a 5xx); it is deleted.
-- A repeated call (its answer was lost) has the same p_now: what the first call
-- settled, and attempts that began since, are left alone. So they are if the first call is executed after its repeat.
-- Returns a row for each item that changed nothing (`applied` is false), and for each whose request has got another
-- answer than `p_answer`: nearly always none.
create function settle_attempts(
  p_now timestamptz, p_repeated boolean,
  p_account uuid[], p_id uuid[], p_attempt smallint[], p_kind text[], p_connection uuid[],
  p_provider_id text[], p_provider_code text[], p_error_code text[], p_error_detail text[],
  p_due timestamptz[], p_uncounted boolean[], p_answer text[], p_secret bytea[],
  p_forget_operation smallint[], p_forget_key text[], p_event uuid[]
) returns table (item integer, applied boolean, answer text)
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
  -- What is still to be done for each item; the applied items, those with another answer, and those that have events.
  v_kind text[] := p_kind;
  v_item integer[];
  v_other integer[];
  v_answer text[];
  v_heard integer[];
  v_parked bigint[];
  v_low uuid;
  v_high uuid;
  v_done integer;
begin
  -- Partitions are ranges of ids: without these bounds each call would open all of them, which with
  -- two years of partitions costs half as much again.
  select ids[1], ids[cardinality(ids)] into v_low, v_high
    from (select array_agg(i order by i) as ids from unnest(p_id) as i) as sorted;

  if p_repeated then
    for v_done in
      select i.n::integer from unnest(p_account, p_id, p_kind) with ordinality as i (account_id, id, kind, n)
        join messages m on m.account_id = any (array[i.account_id]) and m.id = i.id
       where (m.settled_at = p_now and (m.status <> 'unknown' or i.kind = 'unknown'))
          -- A throttled message was tried again since: the new attempt has the same number. The time alone may be that of a
          -- clock which was set back.
          or m.attempt_at > p_now and m.past_attempts -> -1 @> jsonb_build_object('attempt', m.attempt, 'counted', false)
    loop
      v_kind[v_done] := null;
    end loop;
  end if;

  with applied as (
    update messages m set
      status = i.kind,
      attempt = case when p_uncounted[n] then m.attempt - 1 else m.attempt end,
      settled_at = p_now,
      provider_id = coalesce(p_provider_id[n], m.provider_id),
      provider_code = p_provider_code[n],
      error_code = p_error_code[n],
      error_detail = p_error_detail[n],
      past_attempts = case when i.kind = 'queued' then
          case when p_uncounted[n]
                and jsonb_build_object('attempt', m.attempt, 'connection', m.connection_id, 'counted', false)
                    <@ all (array[m.past_attempts -> -2, m.past_attempts -> -1])
            then m.past_attempts - (-1) else coalesce(m.past_attempts, '[]') end
          || jsonb_build_object(
            'attempt', m.attempt, 'at', m.attempt_at, 'settledAt', p_now, 'connection', m.connection_id,
            'counted', not p_uncounted[n], 'providerCode', p_provider_code[n], 'detail', p_error_detail[n])
        else m.past_attempts end,
      money = case when m.money = 'held' and i.kind = 'sent' then 'captured'
                   when m.money = 'held' and i.kind = 'failed' then 'released' else m.money end,
      money_at = case when m.money = 'held' and i.kind in ('sent', 'failed') then p_now else m.money_at end,
      answer = coalesce(m.answer, p_answer[n]),
      unknown_at = case when i.kind = 'unknown' then p_now else m.unknown_at end,
      sent_at = case when i.kind = 'sent' then p_now else m.sent_at end,
      ended_at = case when i.kind = 'failed' then p_now else m.ended_at end
    from unnest(p_id, v_kind) with ordinality as i (id, kind, n)
    where i.kind is not null and m.account_id = any (array[p_account[n]]) and m.id = any (p_id[n:n]) and in_months(m.id, v_low, v_high)
      and m.attempt = p_attempt[n]
      and (m.status = 'sending' or (m.status = 'unknown' and i.kind <> 'unknown'))
      and (m.settled_at is distinct from p_now or m.attempt_at <= p_now)
    returning m.account_id, m.id, m.live, m.channel, m.status, m.amount, m.funding, m.money, m.answer,
              m.bulk_job_id, i.n
  ), wallet as (
    update wallets w set
      held = w.held - s.captured - s.released, captured = w.captured + s.captured, balance = w.balance + s.released
    from (
      select a.account_id,
             coalesce(sum(a.amount) filter (where a.money = 'captured'), 0)::bigint as captured,
             coalesce(sum(a.amount) filter (where a.money = 'released'), 0)::bigint as released
        from applied a
       -- Of an unknown one with an id the wallet is only locked, in its order: parked receipts, below, may move its money.
       where a.funding = 'wallet' and (a.status in ('sent', 'failed') or a.status = 'unknown' and p_provider_id[a.n] is not null)
       group by a.account_id order by a.account_id
    ) s
    where w.account_id = any (array[s.account_id])
  ), gone as (
    delete from outbox o using applied a
     where a.status in ('sent', 'failed') and o.account_id = any (array[a.account_id]) and o.message_id = a.id
    returning a.account_id, a.bulk_job_id, o.bulk_row, a.status
  ), of_bulk as (
    insert into bulk_moves (accounts, jobs, rows, states)
      select array_agg(g.account_id), array_agg(g.bulk_job_id), array_agg(g.bulk_row), array_agg(g.status)
        from gone g where g.bulk_row is not null having count(*) > 0
  ), counted as (
    insert into message_deltas (account_id, live, hour, channel, sent, failed, unknown, cost)
      select a.account_id, a.live, date_trunc('hour', p_now, 'UTC'), a.channel, count(*) filter (where a.status = 'sent'),
             count(*) filter (where a.status = 'failed'), count(*) filter (where a.status = 'unknown'),
             coalesce(sum(a.amount) filter (where a.funding = 'wallet' and a.status = 'sent'), 0)
        from applied a where a.status <> 'queued' group by a.account_id, a.live, a.channel
  )
  select array_agg(a.n::integer),
         array_agg(a.n::integer) filter (where a.answer is distinct from p_answer[a.n]),
         array_agg(a.answer) filter (where a.answer is distinct from p_answer[a.n]),
         -- With `<> '{}'` the look-up uses the small index of accounts that have events (accounts_heard).
         array_agg(a.n::integer) filter (where exists (
           select 1 from accounts c
            where c.id = a.account_id and c.event_types <> '{}' and 'message.' || a.status = any (c.event_types)))
    into v_item, v_other, v_answer, v_heard from applied a;
  if v_other is not null then
    return query select o.n, true, o.answer from unnest(v_other, v_answer) as o (n, answer);
  end if;
  if cardinality(v_item) is distinct from cardinality(p_id) then
    return query select i.n::integer, false, null::text from unnest(p_id) with ordinality as i (id, n)
      where v_item is null or i.n <> all (v_item);
  end if;

  -- Nearly always the provider's ids are new: a plain insert is cheaper than `on conflict`. An unknown message has an id
  -- where only some of its parts were taken.
  begin
    insert into provider_refs (connection_id, provider_id, account_id, message_id)
      select p_connection[n], p_provider_id[n], p_account[n], p_id[n]
        from unnest(v_item) as n where p_kind[n] in ('sent', 'unknown') and p_provider_id[n] is not null;
  exception when unique_violation then
    insert into provider_refs (connection_id, provider_id, account_id, message_id)
      select p_connection[n], p_provider_id[n], p_account[n], p_id[n]
        from unnest(v_item) as n where p_kind[n] in ('sent', 'unknown') and p_provider_id[n] is not null
    on conflict (connection_id, provider_id) do update
      set account_id = excluded.account_id, message_id = excluded.message_id;
  end;

  -- All below is rare, and skipped where no item needs it.
  if v_heard is not null then
    insert into events (account_id, id, type, message_id, at)
      select p_account[n], p_event[n], 'message.' || p_kind[n], p_id[n], p_now from unnest(v_heard) as n;
  end if;
  if 'queued' = any (p_kind) or 'unknown' = any (p_kind) then
    update outbox o set due_at = i.due, begun = (i.kind = 'unknown'), owner = null, asks = 0, ask_at = '-infinity', tried = true,
           secret = case when i.kind = 'unknown' then null else coalesce(i.secret, o.secret) end
      from unnest(p_account, p_id, p_kind, p_due, p_secret) with ordinality as i (account_id, id, kind, due, secret, n)
     where i.kind in ('queued', 'unknown') and i.n = any (v_item)
       and o.account_id = any (array[i.account_id]) and o.message_id = i.id and o.begun;
  end if;
  if exists (select 1 from parked_receipts) then
    -- Only those of this batch: many others may be parked that belong to no message.
    select array_agg(f.id) into v_parked from (
      select p.id from unnest(p_connection, p_provider_id) as i (connection, provider_id)
        join parked_receipts p on p.connection_id = any (array[i.connection]) and p.provider_id = i.provider_id
         for update of p skip locked) f;
  end if;
  if 'failed' = any (p_kind) then
    if v_parked is not null then
      -- Parked receipts may give usage back to pools, too, after this: lock all pools in one order.
      perform 1 from pools where account_id = any (p_account) order by account_id, id for update;
    end if;
    update pools p set used = greatest(0, p.used - s.n)
      from (
        select i.account_id, m.pool_id, q.resets_at, count(*) as n
          from unnest(p_account, p_id, p_kind) with ordinality as i (account_id, id, kind, n)
          join messages m on m.account_id = any (array[i.account_id]) and m.id = i.id
          join pools q on q.account_id = any (array[i.account_id]) and q.id = m.pool_id
         where i.kind = 'failed' and i.n = any (v_item) and m.funding = 'pool'
           and in_pool_month(m.id, m.past_holds, q.resets_at, m.pool_until)
         group by i.account_id, m.pool_id, q.resets_at order by i.account_id, m.pool_id
      ) s
     -- If the pool was reset meanwhile, it does not contain their usage.
     where p.account_id = any (array[s.account_id]) and p.id = s.pool_id and p.resets_at = s.resets_at;
  end if;
  if array_remove(p_forget_key, null) <> '{}' then
    delete from idempotency k
     using unnest(p_account, p_id, p_forget_operation, p_forget_key) as i (account_id, id, operation, key), messages m
     where i.key is not null and m.account_id = any (array[i.account_id]) and m.id = i.id and m.answer = 'failed'
       and k.account_id = any (array[i.account_id]) and k.operation = i.operation and k.key = i.key and k.message_id = i.id;
  end if;
  if v_parked is not null then
    perform deliver_parked(p_now, v_parked);
  end if;
  if exists (select 1 from watched_accounts) then
    perform note_moves(p_now, p_account, p_id);
  end if;
end $$;
