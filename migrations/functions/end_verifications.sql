drop function if exists end_verifications;

-- Ends verifications of which nothing was sent, and whose senders are told so: what each
-- superseded counts again, unless a later one has taken its place meanwhile; should that
-- one end too, it gives the place to whoever is left.
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
  r record;
begin
  with asked as (
    select i.account_id, i.id from unnest(p_account, p_id) as i (account_id, id) order by i.account_id, i.id
  ), ended as (
    update verifications v set status = 'failed' from asked a
     where v.account_id = a.account_id and v.id = a.id and v.status = 'pending' and v.resends = 0
    returning v.account_id, v.id
  )
  select array_agg(e.account_id), array_agg(e.id) into v_account, v_ended from ended e;
  if v_ended is null then
    return;
  end if;

  -- One by one, since several may have had the same place; it is rare.
  for r in
    select v.account_id, v.live, v.recipient_key, v.id
      from unnest(v_account, v_ended) as i (account_id, id)
      join verifications v on v.account_id = i.account_id and v.id = i.id
     order by v.account_id, v.live, v.recipient_key
  loop
    update verification_heads h set
        verification_id = case when h.verification_id = r.id then coalesce(h.previous[1], r.id) else h.verification_id end,
        previous = case when h.verification_id = r.id then h.previous[2:] else array_remove(h.previous, r.id) end
     where h.account_id = r.account_id and h.live = r.live and h.recipient_key = r.recipient_key
       and (h.verification_id = r.id or r.id = any (h.previous));
  end loop;
  perform tell_verifications(p_now, 'verification.failed', v_account, v_ended, 'not_sent');
end $$;
