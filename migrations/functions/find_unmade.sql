drop function if exists find_unmade;

-- Which of these messages have their first attempt recorded, and either nobody made it or nobody knows how it ended.
-- They are locked in the order in which they are given.
create function find_unmade(p_account uuid[], p_id uuid[]) returns setof uuid
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
  for n in 1 .. cardinality(p_id) loop
    return query
      select m.id from messages m
       where m.account_id = p_account[n] and m.id = p_id[n]
         and m.status in ('sending', 'unknown') and m.attempt = 1 and m.past_attempts is null for update;
  end loop;
end $$;
