drop function if exists note_moves;

-- Records that these messages may have changed, for accounts with open streams (watched_accounts).
-- Called only if there are any, so that otherwise it costs one look-up. A message that has not
-- changed does no harm: readers look at the message itself.
create function note_moves(p_now timestamptz, p_account uuid[], p_id uuid[]) returns void
language sql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
  insert into message_moves (account_id, at, messages)
    select w.account_id, p_now, array_agg(i.id)
      from unnest(p_account, p_id) as i (account_id, id)
      join watched_accounts w on w.account_id = any (array[i.account_id]) and w.until > p_now
     group by w.account_id
$$;
