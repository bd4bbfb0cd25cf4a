drop function if exists accept_verifications;

-- Accepts the messages of new verifications (accept_sends), and stores the verification of
-- each accepted one. It supersedes the recipient's earlier verification by its higher
-- accept_no. A refused item changes nothing: the earlier code stays valid. Of several items
-- for one recipient the last one counts. A verification has the id of its first message;
-- `p_messages` is null if it has no others; an item with others that nothing covers keeps no idempotency key. Returns what
-- accept_sends returns, or, if codes per
-- recipient are limited (`p_person`, which differs between the items of a call; null without limits):
--   'late'     the recipient's limit is reached (find_late) until `free_at`
--   'watched'  accepted, although over a limit in monitor mode
--
-- It checks for webhooks once per call, and stores neither a row of totals per verification nor one for
-- which verification counts: these would take a third of the time.
--
-- Order of locks: an advisory lock per account, which serializes the account's starts and resends on all nodes, then
-- what accept_sends locks. So their numbers (accept_no) are in the order of commits, limits are exact, and each superseded
-- verification gets its event. Locking the wallet's row instead takes two to three times as long.
create function accept_verifications(
  p_node bigint, p_now timestamptz, p_operation smallint, p_repeated boolean,
  p_account uuid[], p_id uuid[], p_key text[], p_hash bytea[],
  p_live boolean[], p_status text[], p_channel text[], p_type text[], p_recipient text[], p_country text[],
  p_provider text[], p_connection uuid[], p_sender text[], p_source text[], p_candidates text[],
  p_content json[], p_metadata json[], p_template uuid[], p_job uuid[],
  p_amount bigint[], p_parts smallint[], p_pooled boolean[],
  p_due timestamptz[], p_scheduled timestamptz[], p_owned boolean[], p_begun boolean[], p_secret bytea[], p_answer text[],
  p_recipient_key text[], p_code_digest bytea[],
  p_validity smallint[], p_started timestamptz[], p_resend_after interval, p_request json[], p_messages text[],
  p_mailbox text[], p_person text[], p_sends smallint[], p_window_minutes smallint[], p_strict boolean[], p_oldest uuid, p_newest uuid
) returns table (
  item integer, verdict text, key_hash bytea, key_message uuid, key_status smallint, key_body text, key_created timestamptz,
  free_at timestamptz
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
  -- Mostly no account has webhooks.
  v_heard constant boolean := exists (select 1 from accounts c where c.event_types <> '{}');
  v_take boolean[] := array_fill(true, array[cardinality(p_id)]);
  v_person text[] := p_person;
  v_watched integer[] := '{}';
  v_account uuid[];
  v_previous uuid[];
  r record;
begin
  perform pg_advisory_xact_lock(verification_lock(a.id))
    from (select distinct id from unnest(p_account) as d (id) order by id) a;
  if p_person is not null then
    if p_repeated then
      -- A code that was accepted before is counted already.
      for r in
        select i.n::integer as n from unnest(p_account, p_id) with ordinality as i (account_id, id, n)
         cross join lateral (select 1 from messages x where x.account_id = i.account_id and x.id = i.id limit 1) m
      loop
        v_person[r.n] := null;
      end loop;
    end if;
    for r in select t.* from find_late(p_account, p_started, v_person, p_sends, p_window_minutes, p_strict, p_oldest, p_newest) t loop
      if r.late then
        v_take[r.item] := false;
        item := r.item; verdict := 'late'; free_at := r.free_at;
        return next;
      else
        v_watched := v_watched || r.item;
      end if;
    end loop;
    free_at := null;
  end if;

  for r in
    select s.* from accept_sends(
      p_node, p_now, p_operation, p_repeated, p_account, p_id, p_key, p_hash, p_live, p_status, p_channel, p_type,
      p_recipient, p_country, p_provider, p_connection, p_sender, p_source, p_candidates, p_content, p_metadata,
      p_template, p_job, p_amount, p_parts, p_pooled, p_due, p_scheduled, p_owned, p_begun, p_secret, p_answer, v_take) s
  loop
    -- Also for 'again': that call stored the verification, too.
    v_take[r.item] := false;
    if r.verdict = 'insufficient' and p_messages[r.item] is not null then
      -- The caller goes on with the next channel: a key that kept the 402 would answer a repeat with it meanwhile, and after a
      -- crash for good.
      delete from idempotency k
       where k.account_id = any (array[p_account[r.item]]) and k.operation = p_operation and k.key = p_key[r.item]
         and k.message_id = p_id[r.item];
    end if;
    item := r.item; verdict := r.verdict;
    key_hash := r.key_hash; key_message := r.key_message; key_status := r.key_status;
    key_body := r.key_body; key_created := r.key_created;
    return next;
  end loop;

  key_hash := null; key_message := null; key_status := null; key_body := null; key_created := null;
  foreach item in array v_watched loop
    if v_take[item] then
      verdict := 'watched';
      return next;
    end if;
  end loop;

  with started as (
    insert into verifications (
      account_id, id, live, validity_minutes, recipient, recipient_key, mailbox, country, message_id, channel,
      started_at, expires_at, resend_at, code_hash, request, messages, started_with)
    select p_account[n], i.id, p_live[n], p_validity[n], p_recipient[n], p_recipient_key[n], p_mailbox[n], p_country[n], i.id,
           p_channel[n], p_started[n], p_started[n] + p_validity[n] * interval '1 minute',
           p_started[n] + p_resend_after, sha256(p_code_digest[n] || uuid_send(i.id)), p_request[n],
           case when p_messages[n] is null then array[i.id] else string_to_array(p_messages[n], ',')::uuid[] end,
           case when p_messages[n] is null then 1 else cardinality(string_to_array(p_messages[n], ',')) end
      from unnest(p_id) with ordinality as i (id, n)
     where v_take[n]
    returning account_id, id
  )
  -- For the totals: one row for the whole batch, due when hardly any of them can still change.
  insert into verification_looks (id, accounts, ids, started_at, look_at)
    select (array_agg(id))[1], array_agg(account_id), array_agg(id), p_now, p_now + c_look_after from started having count(*) > 0;

  if v_heard then
    perform tell_verifications(p_now, 'verification.sent', p_account,
      array(select case when v_take[n] then i.id end from unnest(p_id) with ordinality as i (id, n) order by n), null);
    -- The verification that counted until then, which may be of the same batch.
    select array_agg(p_account[i.n]), array_agg(b.id) into v_account, v_previous
      from unnest(p_id) with ordinality as i (id, n)
     cross join lateral (select x.accept_no from verifications x where x.account_id = p_account[i.n] and x.id = i.id limit 1) v
     cross join lateral (
       select x.id from verifications x
        where x.account_id = p_account[i.n] and x.live = p_live[i.n] and x.recipient_key = p_recipient_key[i.n]
          and x.accept_no < v.accept_no and x.status <> 'failed'
        order by x.accept_no desc limit 1) b
     where v_take[i.n];
    perform tell_verifications(p_now, 'verification.superseded', v_account, v_previous, null);
  end if;
end $$;
