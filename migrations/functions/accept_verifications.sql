drop function if exists accept_verifications;

-- Accepts the messages of new verifications (accept_sends), and with each that was
-- accepted its verification, which takes the place of the recipient's earlier one. A
-- refused item changes nothing: the earlier code still counts. Of several items for one
-- recipient the last one stays. (Its shape was measured: a look-up of who listens for each
-- account, a row for the totals for each verification, and grouping what is no group took a third of the time.) Returns what accept_sends returns.
--
-- Order of locks: what accept_sends locks, then the heads in the order of their keys.
create function accept_verifications(
  p_node bigint, p_now timestamptz, p_operation smallint, p_repeated boolean,
  p_account uuid[], p_id uuid[], p_key text[], p_hash bytea[],
  p_live boolean[], p_status text[], p_channel text[], p_type text[], p_recipient text[], p_country text[],
  p_provider text[], p_connection uuid[], p_sender text[], p_source text[], p_candidates text[],
  p_content json[], p_metadata json[], p_template uuid[], p_job uuid[],
  p_amount bigint[], p_parts smallint[], p_pooled boolean[],
  p_due timestamptz[], p_scheduled timestamptz[], p_owned boolean[], p_begun boolean[], p_secret bytea[], p_answer text[],
  p_verification uuid[], p_recipient_key text[], p_code_mark bytea[],
  p_validity smallint[], p_started timestamptz[], p_resend_after interval, p_request json[], p_messages text[]
) returns table (
  item integer, verdict text, key_hash bytea, key_message uuid, key_status smallint, key_body text, key_created timestamptz
)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  c_look_after constant interval := interval '20 minutes';
  -- What is older was told to its sender long ago.
  v_settled constant uuid := first_uuid_at(p_now - interval '2 minutes');
  v_take boolean[] := array_fill(true, array[cardinality(p_id)]);
  v_account uuid[];
  v_previous uuid[];
  r record;
begin
  for r in
    select s.* from accept_sends(
      p_node, p_now, p_operation, p_repeated, p_account, p_id, p_key, p_hash, p_live, p_status, p_channel, p_type,
      p_recipient, p_country, p_provider, p_connection, p_sender, p_source, p_candidates, p_content, p_metadata,
      p_template, p_job, p_amount, p_parts, p_pooled, p_due, p_scheduled, p_owned, p_begun, p_secret, p_answer) s
  loop
    -- 'again' too: what was stored before was stored with its verification.
    v_take[r.item] := false;
    item := r.item; verdict := r.verdict;
    key_hash := r.key_hash; key_message := r.key_message; key_status := r.key_status;
    key_body := r.key_body; key_created := r.key_created;
    return next;
  end loop;

  insert into verifications (
    account_id, id, live, validity_minutes, recipient, recipient_key, country, message_id, channel,
    started_at, expires_at, resend_at, code_hash, request, messages, started_with)
  select p_account[n], i.id, p_live[n], p_validity[n], p_recipient[n], p_recipient_key[n], p_country[n], p_id[n],
         p_channel[n], p_started[n], p_started[n] + p_validity[n] * interval '1 minute',
         p_started[n] + p_resend_after, sha256(p_code_mark[n] || uuid_send(i.id)), p_request[n],
         case when p_messages[n] is null then array[p_id[n]] else string_to_array(p_messages[n], ',')::uuid[] end,
         case when p_messages[n] is null then 1 else cardinality(string_to_array(p_messages[n], ',')) end
    from unnest(p_verification) with ordinality as i (id, n)
   where v_take[n];

  -- For the totals: one row for all of them, to be looked at when hardly any of them can still change.
  if not false = any (v_take) then
    insert into verification_looks (id, accounts, ids, started_at, look_at)
      values (p_verification[1], p_account, p_verification, p_now, p_now + c_look_after);
  else
    insert into verification_looks (id, accounts, ids, started_at, look_at)
      select (array_agg(i.id))[1], array_agg(p_account[i.n]), array_agg(i.id), p_now, p_now + c_look_after
        from unnest(p_verification) with ordinality as i (id, n) where v_take[i.n] having count(*) > 0;
  end if;

  -- What the one before had superseded is of interest as long as nobody knows what becomes of that one.
  begin
    with heads as (
      insert into verification_heads as h (account_id, live, recipient_key, verification_id)
        select p_account[i.n], p_live[i.n], i.key, p_verification[i.n]
          from unnest(p_recipient_key) with ordinality as i (key, n)
         where v_take[i.n]
         order by p_account[i.n], p_live[i.n], i.key
      on conflict (account_id, live, recipient_key) do update set
        previous = case when h.verification_id < v_settled then array[h.verification_id]
                        else (h.verification_id || h.previous)[1:3] end,
        verification_id = excluded.verification_id
      returning h.account_id, h.previous
    )
    select array_agg(h.account_id), array_agg(h.previous[1]) into v_account, v_previous
      from heads h where h.previous <> '{}';
  exception when cardinality_violation then
    -- Several for one recipient: each supersedes the one before it.
    with heads as (
      insert into verification_heads as h (account_id, live, recipient_key, verification_id, previous)
        select i.account_id, i.live, i.key, (array_agg(i.id order by i.n desc))[1], (array_agg(i.id order by i.n desc))[2:4]
          from unnest(p_account, p_live, p_recipient_key, p_verification) with ordinality as i (account_id, live, key, id, n)
         where v_take[n]
         group by i.account_id, i.live, i.key
         order by i.account_id, i.live, i.key
      on conflict (account_id, live, recipient_key) do update set
        previous = (excluded.previous || h.verification_id || h.previous)[1:3],
        verification_id = excluded.verification_id
      returning h.account_id, h.previous
    )
    -- Of these those who counted until now: its neighbours here, and who was there before.
    select array_agg(h.account_id), array_agg(p.id) into v_account, v_previous
      from heads h cross join lateral unnest(h.previous) with ordinality as p (id, n)
     where p.n = 1 or h.previous[p.n - 1] = any (p_verification);
  end;

  -- Nobody listens, mostly.
  if exists (select 1 from accounts c where c.event_types <> '{}') then
    perform tell_verifications(p_now, 'verification.sent', p_account,
      array(select case when v_take[n] then i.id end from unnest(p_verification) with ordinality as i (id, n) order by n), null);
    perform tell_verifications(p_now, 'verification.superseded', v_account, v_previous, null);
  end if;
end $$;
