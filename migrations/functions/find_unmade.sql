drop function if exists find_unmade;

-- Returns which of these messages are `sending` or `unknown` with their first attempt, which may not have been made, and
-- are confirmed (vouched). Others are still to be withdrawn: they were stored since that was last tried.
-- Only those that were accepted when their batch was taken up at p_taken_up (null: by its first request), since a
-- repeat of a batch accepts the same ids. Locks them in the given order.
create function find_unmade(p_account uuid[], p_id uuid[], p_taken_up timestamptz[]) returns setof uuid
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
begin
  for n in 1 .. cardinality(p_id) loop
    return query
      select m.id from messages m
       where m.account_id = p_account[n] and m.id = p_id[n]
         and m.status in ('sending', 'unknown') and m.attempt = 1 and m.past_attempts is null and m.vouched is true
         and exists (
           select 1 from outbox o
            where o.account_id = p_account[n] and o.message_id = p_id[n] and o.taken_up_at is not distinct from p_taken_up[n])
         for update;
  end loop;
end $$;
