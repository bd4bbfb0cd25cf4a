drop function if exists sweep_bulk_rows;

-- Deletes rows of one job that was refused or interrupted, at most p_limit, and with the last of them its row of
-- bulk_sweeps. Returns 0 if there is no such job, else one more than the deleted rows. The job is selected in a
-- statement of its own: within one statement no partition could be left out, and each call read all rows.
create function sweep_bulk_rows(p_limit integer) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_account uuid;
  v_job uuid;
  v_last integer;
  v_removed integer;
begin
  select s.account_id, s.job_id into v_account, v_job
    from bulk_sweeps s order by s.account_id, s.job_id limit 1 for update skip locked;
  if not found then
    return 0;
  end if;
  select max(f.n) into v_last from (
    select r.n from bulk_rows r where r.account_id = v_account and r.job_id = v_job order by r.n limit p_limit) f;
  delete from bulk_rows r where r.account_id = v_account and r.job_id = v_job and r.n <= v_last;
  get diagnostics v_removed = row_count;
  if v_removed < p_limit then
    delete from bulk_sweeps s where s.account_id = v_account and s.job_id = v_job;
  end if;
  return v_removed + 1;
end $$;
