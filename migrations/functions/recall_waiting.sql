drop function if exists recall_waiting;

-- Brings back messages that a clock which was far ahead has put off: they would not leave before its time has come. Scheduled
-- ones stay. p_wait is the longest wait between two attempts. A queued message is due after its wait at most; an
-- unknown one is looked up at once, and counts as sent p_deadline from now. Ten minutes: clocks of nodes differ by less. Returns
-- how many.
create function recall_waiting(p_now timestamptz, p_wait interval, p_deadline interval) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  c_apart constant interval := interval '10 minutes';
  -- The most that POSTHORN_UNKNOWN_DEADLINE_HOURS may be: what was set before holds for what was unknown then.
  c_longest constant interval := interval '720 hours';
  c_ahead constant uuid := first_uuid_at(p_now + c_apart);
  v_account uuid[];
  v_id uuid[];
  v_due timestamptz[];
  v_new_account uuid[];
  v_new uuid[];
  v_recalled integer;
begin
  -- After an attempt a message is no longer scheduled, and what waits for another one has an index of its own.
  select array_agg(t.account_id), array_agg(t.message_id),
         array_agg(p_now + greatest(interval '0', least(p_wait, t.due_at - m.attempt_at)))
    into v_account, v_id, v_due
    from (select o.account_id, o.message_id, o.due_at from outbox o
           where o.tried and not o.begun and o.owner is null and o.message_id >= '00000000-0000-0000-0000-000000000000'
             and o.due_at > p_now + p_wait + c_apart
             for update skip locked) t
   cross join lateral (
     select x.attempt_at from messages x where x.account_id = t.account_id and x.id = any (just(t.message_id)) limit 1) m;

  -- Without an attempt: accepted by that clock, as their ids say.
  select array_agg(t.account_id), array_agg(t.message_id) into v_new_account, v_new
    from accounts a
   cross join lateral (
     select o.account_id, o.message_id from outbox o
      where o.account_id = a.id and o.message_id > c_ahead
        and o.owner is null and not o.begun and not o.tried and o.due_at > p_now + c_apart
        for update skip locked) t
   cross join lateral (
     select from messages x
      where x.account_id = t.account_id and x.id = any (just(t.message_id)) and x.status = 'queued' limit 1) m;

  update outbox o set due_at = i.due_at
    from unnest(v_account || v_new_account, v_id || v_new,
                v_due || array_fill(p_now, array[coalesce(cardinality(v_new), 0)])) as i (account_id, id, due_at)
   where o.account_id = any (array[i.account_id]) and o.message_id = i.id and o.owner is null and not o.begun;
  get diagnostics v_recalled = row_count;

  select array_agg(t.account_id), array_agg(t.message_id) into v_account, v_id
    from (select o.account_id, o.message_id from outbox o
           where o.begun and o.owner is null and o.due_at > '-infinity'
             and (o.ask_at > p_now + p_wait + c_apart or o.due_at > p_now + c_longest + c_apart)
             for update skip locked) t;
  update outbox o set ask_at = least(o.ask_at, p_now),
         due_at = case when o.due_at > p_now + c_longest + c_apart then p_now + p_deadline else o.due_at end
    from unnest(v_account, v_id) as i (account_id, id)
   where o.account_id = any (array[i.account_id]) and o.message_id = i.id and o.owner is null and o.begun;
  return v_recalled + coalesce(cardinality(v_id), 0);
end $$;
