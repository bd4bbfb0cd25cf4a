drop function if exists read_waiting_rows;

-- For each job (p_account, p_job) its next rows without an outcome from p_low on, which are still to be handed over: at
-- most p_most, and after the first row at most p_characters. Most such rows are after the last outcome, and need no look-up of
-- theirs (11 µs each). The tables are empty between jobs: a plan that was made then would read all rows of the next job for
-- each page of it.
create function read_waiting_rows(
  p_account uuid[], p_job uuid[], p_low integer[], p_most integer[], p_characters integer)
returns table (ask integer, n integer, body text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  return query
  select i.ask::integer, s.n, s.body
    from unnest(p_account, p_job, p_low, p_most) with ordinality as i (account_id, job_id, low, most, ask)
   cross join lateral (
     select coalesce(max(l.n), -1) as n from (
       select o.n from bulk_outcomes o where o.account_id = i.account_id and o.job_id = i.job_id and o.n >= i.low
        order by o.account_id desc, o.job_id desc, o.n desc limit 1) l) last
   cross join lateral (
     select p.n, p.body, sum(octet_length(p.body)) over (order by p.n) - octet_length(p.body) as before from (
       select r.n, r.body from bulk_rows r
        where r.account_id = i.account_id and r.job_id = i.job_id and r.n >= i.low
          and (r.n > last.n or not exists (
            select 1 from bulk_outcomes o
             where o.account_id = r.account_id and o.job_id = r.job_id and o.n = r.n offset 0))
        order by r.n limit i.most) p) s
   where s.before < p_characters order by i.ask, s.n;
end $$;
