-- Rows of bulk jobs are counted by word of the functions that end messages, no longer by looks at all
-- rows that are open (decision 26).

-- The row of its job that a message is.
alter table outbox add column bulk_row integer;

-- What jobs have to count: a row per call, in the transaction that ended those messages. Appended, never waited for.
create table bulk_moves (
  accounts uuid[] not null,
  jobs uuid[] not null,
  rows integer[] not null,
  -- 'sent', 'failed' or 'cancelled'.
  states text[] not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
-- Random bytes: looking whether they can be pressed would cost more than they.
alter table bulk_moves alter accounts set storage external, alter jobs set storage external,
  alter rows set storage external, alter states set storage external;

-- The open rows whose message has ended already are counted as they were until now.
with due as (
  select o.account_id, o.job_id, o.n,
         case when m.status = 'cancelled' then 'cancelled'
              when m.status in ('failed', 'expired') and m.sent_at is null then 'failed'
              else 'sent' end as state
    from bulk_outcomes o join messages m on m.account_id = o.account_id and m.id = o.message_id
   where o.state = 'open' and m.status not in ('scheduled', 'queued', 'sending', 'unknown')
), settled as (
  update bulk_outcomes o set state = due.state from due
   where o.account_id = due.account_id and o.job_id = due.job_id and o.n = due.n
  returning o.account_id, o.job_id, o.state
), counted as (
  select s.account_id, s.job_id, (count(*) filter (where s.state = 'sent'))::integer as sent,
         (count(*) filter (where s.state = 'failed'))::integer as failed,
         (count(*) filter (where s.state = 'cancelled'))::integer as cancelled
    from settled s group by s.account_id, s.job_id
)
update bulk_jobs j set sent = j.sent + c.sent, failed = j.failed + c.failed, cancelled = j.cancelled + c.cancelled
  from counted c where j.account_id = c.account_id and j.id = c.job_id;
update bulk_jobs set unsettled = false, status = case when status = 'cancelled' then status else 'completed' end,
       pause_reason = null, resume_at = null, ended_at = coalesce(ended_at, now())
 where unsettled and sent + failed + cancelled >= total;

-- The others are known to the outbox from here on. What becomes of such a row says its message; only of one
-- that fails, or is cancelled, it is written down here, too. ('sent' is of rows from before.)
update outbox x set bulk_row = o.n from bulk_outcomes o
 where o.state = 'open' and x.account_id = o.account_id and x.message_id = o.message_id;
update bulk_outcomes set state = 'message' where state = 'open';

drop index bulk_outcomes_open;
drop function if exists settle_bulk_rows;
