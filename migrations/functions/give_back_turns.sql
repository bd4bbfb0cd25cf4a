drop function if exists give_back_turns;

-- Gives turns back, each as of the time of its code, as if they had not been taken (take_turns).
create function give_back_turns(p_account uuid[], p_person text[], p_at timestamptz[]) returns void
language sql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
  -- One of those of that moment.
  update fraud_recipients r set
      sends = r.sends[1:array_position(r.sends, i.at) - 1] || r.sends[array_position(r.sends, i.at) + 1:]
    from (select * from unnest(p_account, p_person, p_at) as u (account_id, person, at)
           order by u.account_id, u.person collate "C") i
   where r.account_id = i.account_id and r.recipient = i.person and i.at = any (r.sends)
$$;
