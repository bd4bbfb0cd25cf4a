drop function if exists accept_bulk;

-- Accepts rows of bulk jobs: the messages by accept_sends, and for each an outcome that
-- links row and message. Requires that the node holds the account's lane (by its fence), that
-- the job has not ended, and that the row has no outcome yet: so no row is sent twice, even if
-- a node has lost its lane without noticing. Verdicts beside those of accept_sends:
--   'stale'  this node may not send the row
--   'over'   its job has ended
--   'later'  not tried, because another item of the batch is refused
create function accept_bulk(
  p_node bigint, p_now timestamptz, p_operation smallint, p_repeated boolean,
  p_account uuid[], p_id uuid[], p_key text[], p_hash bytea[],
  p_live boolean[], p_status text[], p_channel text[], p_type text[], p_recipient text[], p_country text[],
  p_provider text[], p_connection uuid[], p_sender text[], p_source text[], p_candidates text[],
  p_content json[], p_metadata json[], p_template uuid[], p_job uuid[],
  p_amount bigint[], p_parts smallint[], p_pooled boolean[],
  p_due timestamptz[], p_scheduled timestamptz[], p_owned boolean[], p_begun boolean[], p_secret bytea[], p_answer text[],
  p_row integer[], p_fence bigint[]
) returns table (
  item integer, verdict text, key_hash bytea, key_message uuid, key_status smallint, key_body text, key_created timestamptz
)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
-- The rows of a batch are of many accounts, so caching look-ups costs more than it saves.
set enable_memoize = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_refused text[];
  v_items integer[];
  v_none integer[] := '{}';
  r record;
begin
  perform pg_advisory_xact_lock_shared(bulk_lock(a.id))
    from (select distinct id from unnest(p_account) as d (id) order by id) a;

  select array_agg(case when l.fence is null then 'stale' else 'over' end), array_agg(i.at::integer)
    into v_refused, v_items
    from unnest(p_id) with ordinality as i (id, at)
    left join bulk_lanes l on l.account_id = any (array[p_account[at]]) and l.node = p_node and l.fence = p_fence[at]
    left join bulk_jobs j on j.account_id = any (array[p_account[at]]) and j.id = p_job[at] and j.status in ('queued', 'running', 'paused')
   where (l.fence is null or j.id is null)
     and not exists (select 1 from bulk_outcomes o
                      where o.account_id = any (array[p_account[at]]) and o.job_id = p_job[at] and o.n = p_row[at] and o.message_id = i.id);

  -- Nearly always no row has an outcome: a plain insert is cheaper than `on conflict`.
  if v_refused is null then
    begin
      insert into bulk_outcomes (account_id, job_id, n, state, message_id)
        select p_account[at], p_job[at], p_row[at], 'message', i.id from unnest(p_id) with ordinality as i (id, at);
    exception when unique_violation then
      select array_agg('stale'::text), array_agg(i.at::integer) into v_refused, v_items
        from unnest(p_id) with ordinality as i (id, at)
        join bulk_outcomes o on o.account_id = any (array[p_account[at]]) and o.job_id = p_job[at] and o.n = p_row[at]
       where o.message_id is distinct from i.id;
      insert into bulk_outcomes (account_id, job_id, n, state, message_id)
        select p_account[at], p_job[at], p_row[at], 'message', i.id from unnest(p_id) with ordinality as i (id, at)
         where v_refused is null
      on conflict do nothing;
    end;
  end if;
  if v_refused is not null then
    return query
      select at, coalesce(v_refused[array_position(v_items, at)], 'later'),
             null::bytea, null::uuid, null::smallint, null::text, null::timestamptz
        from generate_series(1, cardinality(p_id)) as at;
    return;
  end if;

  for r in
    select * from accept_sends(
      p_node, p_now, p_operation, p_repeated, p_account, p_id, p_key, p_hash, p_live, p_status, p_channel, p_type,
      p_recipient, p_country, p_provider, p_connection, p_sender, p_source, p_candidates, p_content, p_metadata,
      p_template, p_job, p_amount, p_parts, p_pooled, p_due, p_scheduled, p_owned, p_begun, p_secret, p_answer,
      p_bulk_row => p_row)
  loop
    v_none := v_none || r.item;
    item := r.item; verdict := r.verdict;
    if r.verdict <> 'again' then
      delete from bulk_outcomes o
       where o.account_id = p_account[r.item] and o.job_id = p_job[r.item] and o.n = p_row[r.item] and o.message_id = p_id[r.item];
    end if;
    return next;
  end loop;

  -- The message has the sealed text of an OTP from here on; its row keeps only the recipient.
  if exists (select 1 from unnest(p_secret) as s (secret) where s.secret is not null) then
    update bulk_rows r
       set body = json_build_array(case when r.body like '[%' then r.body::json -> 0 else r.body::json -> 'to' end)::text
      from unnest(p_id) with ordinality as i (id, at)
     where p_secret[at] is not null and at <> all (v_none)
       and r.account_id = any (array[p_account[at]]) and r.job_id = p_job[at] and r.n = p_row[at];
  end if;
end $$;
