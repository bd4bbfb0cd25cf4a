drop function if exists cancel_deliveries;

-- Ends what waits for a target that takes nothing any more, at most p_limit; returns how many. Waits for nobody:
-- what somebody else has locked is left for next time.
--
-- What locks rows is a statement of its own, for the reason that the README has: the other one may then look for each
-- of them in its month alone (1,000 of them among 32 months: 368 ms in one statement). Both are led to the index of
-- what waits, or to the row: by its order, and by a target that comes with each row. By the target alone the whole list
-- of the endpoint is read.
create function cancel_deliveries(p_now timestamptz, p_account uuid, p_target uuid, p_limit integer) returns integer
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
  v_target uuid[];
  v_seq bigint[];
  v_id uuid[];
  v_cancelled integer;
begin
  select array_agg(w.account_id), array_agg(w.target_id), array_agg(w.seq), array_agg(w.id)
    into v_account, v_target, v_seq, v_id from (
    select d.account_id, d.target_id, d.seq, d.id from deliveries d
     where d.status = 'pending' and d.owner is null and d.account_id = p_account and d.target_id = p_target
       and not exists (select 1 from webhook_endpoints e where e.account_id = p_account and e.id = p_target and e.enabled)
     order by d.due_at, d.seq limit p_limit for update of d skip locked
  ) w;
  update deliveries d set status = 'cancelled', ended_at = p_now
    from unnest(v_account, v_target, v_seq, v_id) as w (account_id, target_id, seq, id)
   where d.account_id = w.account_id and d.target_id = w.target_id and d.seq = w.seq and d.id = w.id;
  get diagnostics v_cancelled = row_count;
  return v_cancelled;
end $$;
