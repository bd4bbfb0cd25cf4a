drop function if exists claim_due;

-- Claims rows that are due and that no node holds: scheduled, to be retried, or freed from a dead
-- node. At most p_limit for each connection, so that a paused connection does not block
-- the others. Begun rows are not claimed: they may have been submitted.
-- A message of a bulk job is left to the node that holds its account's lane, if there is one, and is returned with its
-- job until that has ended. Over a web session it is claimed by the node that has the session open: if another node has the
-- lane, it is returned without its job, and is not claimed while the job is paused. `cancelled`: its job was, while it was
-- being submitted.
-- Of connections in p_tests_only, a sandbox that live keys may not use, only messages of test keys are claimed.
create function claim_due(
  p_node bigint, p_now timestamptz, p_connection uuid[], p_limit integer[], p_tests_only uuid[] default '{}')
returns table (
  account_id uuid, id uuid, attempt smallint, channel text, message_type text, recipient text,
  connection_id uuid, sender text, content json, bulk_job_id uuid, cancelled boolean, secret bytea)
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
  v_id uuid[];
  v_connection uuid[];
  v_with_job boolean[];
  v_secret bytea[];
begin
  with taken as (
    update outbox o set owner = p_node
      from (
        select d.account_id, d.message_id, d.elsewhere
          from unnest(p_connection, p_limit) as c (connection_id, n),
               lateral (
                 select q.account_id, q.message_id, e.elsewhere from outbox q
                  cross join lateral (
                    select q.bulk_row is not null and exists (
                      select 1 from bulk_lanes l join nodes n on n.id = any (array[l.node])
                       where l.account_id = q.account_id and l.node <> p_node) as elsewhere) e
                  where q.connection_id = c.connection_id and q.due_at <= p_now and q.owner is null and not q.begun
                    and (not e.elsewhere
                         or exists (select 1 from web_sessions s where s.account_id = q.account_id and s.id = q.connection_id)
                        and not is_paused(q.account_id, q.message_id))
                    and (c.connection_id <> all (p_tests_only) or not is_live(q.account_id, q.message_id))
                  order by q.due_at limit c.n for update of q skip locked
               ) d
      ) due
     where o.account_id = any (array[due.account_id]) and o.message_id = due.message_id
    returning o.account_id, o.message_id, o.connection_id, o.bulk_row is not null and not due.elsewhere as with_job, o.secret
  )
  select array_agg(t.account_id), array_agg(t.message_id), array_agg(t.connection_id), array_agg(t.with_job), array_agg(t.secret)
    into v_account, v_id, v_connection, v_with_job, v_secret
    from taken t;
  if v_id is null then
    return;
  end if;
  return query
    select m.account_id, m.id, m.attempt, m.channel, m.message_type, m.recipient,
           v_connection[n], m.sender, m.content,
           case when v_with_job[n] then (
             select j.id from bulk_jobs j
              where j.account_id = m.account_id and j.id = m.bulk_job_id and j.ended_at is null) end,
           m.bulk_job_id is not null and exists (
             select 1 from bulk_jobs j
              where j.account_id = m.account_id and j.id = m.bulk_job_id and j.status = 'cancelled'),
           v_secret[n]
      from unnest(v_account, v_id) with ordinality as t (account_id, id, n)
      join messages m on m.account_id = any (array[t.account_id]) and m.id = t.id;
end $$;
