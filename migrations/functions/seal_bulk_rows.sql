drop function if exists seal_bulk_rows;

-- Replaces the bodies of these rows of a job, which are in order. The table is empty between jobs: without the bounds and the
-- settings, a plan that was made then would read all rows of the next job for each page of it.
create function seal_bulk_rows(p_account uuid, p_job uuid, p_n integer[], p_body text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  update bulk_rows r set body = i.body from unnest(p_n, p_body) as i (n, body)
   where r.account_id = p_account and r.job_id = p_job and r.n = i.n and r.n between p_n[1] and p_n[cardinality(p_n)];
end $$;
