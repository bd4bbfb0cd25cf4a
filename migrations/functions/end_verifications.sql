drop function if exists end_verifications;

-- Marks verifications as failed whose code was not sent, and stores their events. The one that each
-- superseded counts again, unless there is a later one.
create function end_verifications(p_now timestamptz, p_account uuid[], p_id uuid[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
declare
  v_account uuid[];
  v_ended uuid[];
begin
  with asked as (
    select i.account_id, i.id from unnest(p_account, p_id) as i (account_id, id) order by i.account_id, i.id
  ), ended as (
    update verifications v set status = 'failed' from asked a
     where v.account_id = any (array[a.account_id]) and v.id = a.id and v.status = 'pending' and v.resends = 0
    returning v.account_id, v.id
  )
  select array_agg(e.account_id), array_agg(e.id) into v_account, v_ended from ended e;
  if v_ended is null then
    return;
  end if;
  perform tell_verifications(p_now, 'verification.failed', v_account, v_ended, 'not_sent');
end $$;
