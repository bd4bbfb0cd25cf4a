drop function if exists settle_bulk_rows;

-- Looks what became of the messages of unsettled jobs, and counts it once: a row is sent
-- when a provider took it, whatever a receipt says later. Takes the jobs behind p_after in
-- the order of their keys, at most p_jobs of them and p_rows rows of each; jobs at which
-- another node is just now are left to it. Returns the last job it came to, if any, and
-- whether one of them may have more.
create function settle_bulk_rows(p_now timestamptz, p_after_account uuid, p_after_job uuid, p_jobs integer, p_rows integer)
returns table (account_id uuid, job_id uuid, more boolean)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_account uuid[];
  v_job uuid[];
  v_more boolean;
begin
  select array_agg(j.account_id), array_agg(j.id) into v_account, v_job from (
    select k.account_id, k.id from bulk_jobs k
     where k.unsettled and (k.account_id, k.id) > (p_after_account, p_after_job)
     order by k.account_id, k.id limit p_jobs for no key update skip locked) j;
  if v_job is null then return; end if;

  with due as (
    select s.account_id, s.job_id, s.n, s.state
      from unnest(v_job) with ordinality as i (id, at),
           lateral (
             select o.account_id, o.job_id, o.n,
                    case when m.status = 'cancelled' then 'cancelled'
                         when m.status in ('failed', 'expired') and m.sent_at is null then 'failed'
                         else 'sent' end as state
               from bulk_outcomes o
              -- One by one (limit 1): a plan made on empty tables read all that the account ever sent, at every look.
              cross join lateral (select k.status, k.sent_at from messages k
                                   where k.account_id = o.account_id and k.id = o.message_id limit 1) m
              where o.account_id = v_account[i.at] and o.job_id = i.id and o.state = 'open'
                and m.status not in ('scheduled', 'queued', 'sending', 'unknown')
              limit p_rows) s
  ), settled as (
    update bulk_outcomes o set state = due.state from due
     where o.account_id = due.account_id and o.job_id = due.job_id and o.n = due.n
    returning o.account_id, o.job_id, o.state
  ), counted as (
    select s.account_id, s.job_id, count(*)::integer as all_of_them,
           (count(*) filter (where s.state = 'sent'))::integer as sent,
           (count(*) filter (where s.state = 'failed'))::integer as failed,
           (count(*) filter (where s.state = 'cancelled'))::integer as cancelled
      from settled s group by s.account_id, s.job_id
  ), noted as (
    update bulk_jobs j set sent = j.sent + c.sent, failed = j.failed + c.failed, cancelled = j.cancelled + c.cancelled
      from counted c where j.account_id = c.account_id and j.id = c.job_id
    returning 1
  )
  select bool_or(c.all_of_them >= p_rows) into v_more from counted c;

  perform end_bulk_jobs(p_now, v_account, v_job);
  account_id := v_account[cardinality(v_account)];
  job_id := v_job[cardinality(v_job)];
  more := coalesce(v_more, false) or cardinality(v_job) >= p_jobs;
  return next;
end $$;
