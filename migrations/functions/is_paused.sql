drop function if exists is_paused;

-- Whether the bulk job of a message is paused.
create function is_paused(p_account uuid, p_message uuid) returns boolean
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
begin
  return exists (
    select 1 from messages m join bulk_jobs j on j.account_id = any (array[m.account_id]) and j.id = m.bulk_job_id
     where m.account_id = p_account and m.id = p_message and j.status = 'paused');
end $$;
