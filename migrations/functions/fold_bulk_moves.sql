drop function if exists fold_bulk_moves;

-- Adds outcomes of messages to the counts of their bulk jobs, each once, from up to p_limit rows of bulk_moves; returns
-- how many rows. A message counts as sent once a provider accepted it, whatever receipts say later. Concurrent nodes take
-- different rows, and lock the jobs in the same order.
create function fold_bulk_moves(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_words integer;
  v_account uuid[];
  v_job uuid[];
  v_row integer[];
  v_state text[];
begin
  with gone as (
    delete from bulk_moves b
     where b.ctid = any (array(select e.ctid from bulk_moves e limit p_limit for update skip locked))
    returning b.*
  )
  select (select count(*) from gone), array_agg(i.account_id), array_agg(i.job_id), array_agg(i.n), array_agg(i.state)
    into v_words, v_account, v_job, v_row, v_state
    from gone g, unnest(g.accounts, g.jobs, g.rows, g.states) as i (account_id, job_id, n, state);
  if v_words = 0 then return 0; end if;

  perform 1 from (select distinct * from unnest(v_account, v_job) as d (account_id, job_id)) d
    join bulk_jobs j on j.account_id = any (array[d.account_id]) and j.id = d.job_id
   order by j.account_id, j.id for no key update of j;

  update bulk_outcomes o set state = i.state
    from unnest(v_account, v_job, v_row, v_state) as i (account_id, job_id, n, state)
   where i.state <> 'sent' and o.account_id = any (array[i.account_id]) and o.job_id = i.job_id and o.n = i.n;

  update bulk_jobs j set sent = j.sent + c.sent, failed = j.failed + c.failed, cancelled = j.cancelled + c.cancelled
    from (
      select i.account_id, i.job_id, (count(*) filter (where i.state = 'sent'))::integer as sent,
             (count(*) filter (where i.state = 'failed'))::integer as failed,
             (count(*) filter (where i.state = 'cancelled'))::integer as cancelled
        from unnest(v_account, v_job, v_state) as i (account_id, job_id, state) group by i.account_id, i.job_id) c
   where j.account_id = any (array[c.account_id]) and j.id = c.job_id;
  perform end_bulk_jobs(p_now, v_account, v_job);
  return v_words;
end $$;
