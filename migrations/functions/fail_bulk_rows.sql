drop function if exists fail_bulk_rows;

-- Marks rows as failed that cannot become messages any more, because something that they name has changed since
-- the validation. Checks lane and job like accept_bulk; returns the items that this node may not change.
create function fail_bulk_rows(
  p_node bigint, p_now timestamptz, p_account uuid[], p_job uuid[], p_row integer[], p_fence bigint[],
  p_code text[], p_message text[]
) returns table (item integer)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_stale integer[];
begin
  perform pg_advisory_xact_lock_shared(bulk_lock(a.id))
    from (select distinct id from unnest(p_account) as d (id) order by id) a;
  select coalesce(array_agg(i.n::integer), '{}') into v_stale
    from unnest(p_job) with ordinality as i (id, n)
    left join bulk_lanes l on l.account_id = any (array[p_account[n]]) and l.node = p_node and l.fence = p_fence[n]
    left join bulk_jobs j on j.account_id = any (array[p_account[n]]) and j.id = i.id and j.status in ('queued', 'running', 'paused')
   where l.fence is null or j.id is null;

  with failed as (
    insert into bulk_outcomes (account_id, job_id, n, state, error_code, error_message)
      select p_account[n], i.id, p_row[n], 'failed', p_code[n], p_message[n]
        from unnest(p_job) with ordinality as i (id, n) where n <> all (v_stale)
    on conflict do nothing
    returning account_id, job_id
  ), counted as (
    select f.account_id, f.job_id, count(*)::integer as failed from failed f group by f.account_id, f.job_id
     order by f.account_id, f.job_id
  )
  update bulk_jobs j set failed = j.failed + c.failed from counted c where j.account_id = any (array[c.account_id]) and j.id = c.job_id;
  perform end_bulk_jobs(p_now, p_account, p_job);
  return query select unnest(v_stale);
end $$;
