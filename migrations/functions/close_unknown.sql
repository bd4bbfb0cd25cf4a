drop function if exists close_unknown;

-- Marks unknown messages as sent after their deadline, and captures their money. At most p_limit; returns how many.
-- Leaves the attempt of each where receipts are matched, for one that names it and comes later (adopt_echoes).
create function close_unknown(p_now timestamptz, p_limit integer) returns integer
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
  v_row integer[];
begin
  select array_agg(d.account_id), array_agg(d.message_id), array_agg(d.bulk_row) into v_account, v_id, v_row from (
    select o.account_id, o.message_id, o.bulk_row
      from outbox o join messages m on m.account_id = any (array[o.account_id]) and m.id = any (just(o.message_id))
     where o.owner is null and o.due_at <= p_now and o.begun
     order by o.due_at limit p_limit for update of o, m skip locked) d;
  if v_id is null then
    return 0;
  end if;

  with due as (
    select * from unnest(v_account, v_id, v_row) as d (account_id, message_id, bulk_row)
  ), gone as (
    delete from outbox o using due where o.account_id = any (array[due.account_id]) and o.message_id = due.message_id
  ), applied as (
    update messages m set status = 'sent', sent_at = p_now,
           money = case when m.money = 'held' then 'captured' else m.money end,
           money_at = case when m.money = 'held' then p_now else m.money_at end,
           error_detail = 'no answer within the deadline: counted as sent'
      from due where m.account_id = any (array[due.account_id]) and m.id = due.message_id and m.status = 'unknown'
    returning m.account_id, m.id, m.live, m.channel, m.amount, m.funding, m.bulk_job_id, due.bulk_row,
              m.connection_id, m.provider_id, m.attempt
  ), wallet as (
    update wallets w set held = w.held - s.amount, captured = w.captured + s.amount
      from (select a.account_id, sum(a.amount)::bigint as amount from applied a where a.funding = 'wallet'
             group by a.account_id order by a.account_id) s
     where w.account_id = any (array[s.account_id])
  ), named as (
    insert into provider_refs (connection_id, provider_id, account_id, message_id)
      select a.connection_id, a.id || '.' || a.attempt, a.account_id, a.id from applied a where a.provider_id is null
    on conflict (connection_id, provider_id) do nothing
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select a.account_id, uuid_at(p_now), 'message.sent', a.id, p_now
        from applied a join accounts c on c.id = any (array[a.account_id])
       where 'message.sent' = any (c.event_types)
  ), of_bulk as (
    insert into bulk_moves (accounts, jobs, rows, states)
      select array_agg(a.account_id), array_agg(a.bulk_job_id), array_agg(a.bulk_row), array_agg('sent'::text)
        from applied a where a.bulk_row is not null having count(*) > 0
  ), counted as (
    insert into message_deltas (account_id, live, hour, channel, sent, cost)
      select a.account_id, a.live, date_trunc('hour', p_now, 'UTC'), a.channel, count(*),
             coalesce(sum(a.amount) filter (where a.funding = 'wallet'), 0)
        from applied a group by a.account_id, a.live, a.channel
  )
  select array_agg(a.account_id), array_agg(a.id) into v_account, v_id from applied a;
  if exists (select 1 from watched_accounts) then
    perform note_moves(p_now, v_account, v_id);
  end if;
  return coalesce(cardinality(v_id), 0);
end $$;
