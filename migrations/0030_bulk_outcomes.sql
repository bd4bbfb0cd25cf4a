-- Nearly every row of a job ends as 'sent': an index of all states took an entry when a row
-- became a message, and another one when that was sent. What is looked for is the rest.
create index bulk_outcomes_open on bulk_outcomes (account_id, job_id, n) where state = 'open';
create index bulk_outcomes_ended on bulk_outcomes (account_id, job_id, state, n)
  where state in ('failed', 'cancelled', 'invalid');
drop index bulk_outcomes_state;
