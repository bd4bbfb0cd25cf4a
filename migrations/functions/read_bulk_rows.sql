drop function if exists read_bulk_rows;

-- Rows of a job from p_from on, in their order: at most p_limit, and after the first row at most p_characters. The table is
-- empty between jobs: a plan that was made then would read all rows of the next job for each page of it.
create function read_bulk_rows(p_account uuid, p_job uuid, p_from integer, p_limit integer, p_characters integer)
returns table (n integer, body text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
begin
  return query
  select s.n, s.body from (
    select p.n, p.body, sum(octet_length(p.body)) over (order by p.n) - octet_length(p.body) as before
      from (
        select r.n, r.body from bulk_rows r
         where r.account_id = p_account and r.job_id = p_job and r.n >= p_from order by r.n limit p_limit) p
  ) s where s.before < p_characters order by s.n;
end $$;
