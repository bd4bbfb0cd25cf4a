drop function if exists end_bulk_jobs;

-- Ends those of the given jobs whose rows are all settled.
create function end_bulk_jobs(p_now timestamptz, p_account uuid[], p_job uuid[]) returns void
language sql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
  update bulk_jobs j set
    unsettled = false,
    status = case when j.status = 'cancelled' then j.status else 'completed' end,
    pause_reason = null, resume_at = null,
    ended_at = coalesce(j.ended_at, p_now)
  from (select distinct * from unnest(p_account, p_job) as d (account_id, id)) i
  where j.account_id = any (array[i.account_id]) and j.id = i.id and j.unsettled and j.sent + j.failed + j.cancelled >= j.total
$$;
