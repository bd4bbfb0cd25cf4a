drop function if exists recall_deliveries;

-- Brings back deliveries that a clock which was far ahead has put off: they would not be made before its time has come.
-- p_waits are the longest waits after each number of failed attempts; none waits longer. Ten minutes: clocks of nodes
-- differ by less. Returns how many.
create function recall_deliveries(p_now timestamptz, p_waits interval[]) returns integer
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
  c_apart constant interval := interval '10 minutes';
  c_ahead constant uuid := first_uuid_at(p_now + c_apart);
  v_account uuid[];
  v_target uuid[];
  v_seq bigint[];
  v_id uuid[];
  v_due timestamptz[];
  v_recalled integer;
begin
  select array_agg(t.account_id), array_agg(t.target_id), array_agg(t.seq), array_agg(t.id), array_agg(t.until)
    into v_account, v_target, v_seq, v_id, v_due
    from (select d.account_id, d.target_id, d.seq, d.id, p_now + w.wait as until
            from deliveries d
           cross join lateral (
             select case
                      when d.attempts > 0 then p_waits[least(d.attempts, cardinality(p_waits))]
                      -- Stored by that clock, as its id says.
                      when d.id > c_ahead then interval '0'
                      -- It may be postponed until an earlier one is due.
                      else p_waits[cardinality(p_waits)]
                    end as wait) w
           where d.status = 'pending' and d.owner is null and d.due_at > p_now + c_apart + w.wait
             for update of d skip locked) t;
  update deliveries d set due_at = i.due_at
    from unnest(v_account, v_target, v_seq, v_id, v_due) as i (account_id, target_id, seq, id, due_at)
   where d.account_id = any (array[i.account_id]) and d.target_id = i.target_id and d.seq = i.seq and d.id = i.id
     and d.status = 'pending' and d.owner is null;
  get diagnostics v_recalled = row_count;
  return v_recalled;
end $$;
