drop function if exists accept_resend;

-- Accepts the first message of one resend (accept_sends, with arrays of one item), and
-- stores the new code, which voids the one before. Returns what accept_sends returns, or
--   'stale'  the verification has changed since the caller read it (p_resends resends, its
--            code still valid); nothing was stored
--   'late', 'watched'  as in accept_verifications; `p_at` is the time of the resend
-- so that of concurrent resends exactly one succeeds. Takes the account's lock of starts first, as accept_verifications
-- does, and locks wallet and pools before the verification, as withdrawals do.
create function accept_resend(
  p_node bigint, p_now timestamptz, p_operation smallint, p_repeated boolean,
  p_account uuid[], p_id uuid[], p_key text[], p_hash bytea[],
  p_live boolean[], p_status text[], p_channel text[], p_type text[], p_recipient text[], p_country text[],
  p_provider text[], p_connection uuid[], p_sender text[], p_source text[], p_candidates text[],
  p_content json[], p_metadata json[], p_template uuid[], p_job uuid[],
  p_amount bigint[], p_parts smallint[], p_pooled boolean[],
  p_due timestamptz[], p_scheduled timestamptz[], p_owned boolean[], p_begun boolean[], p_secret bytea[], p_answer text[],
  p_verification uuid, p_resends smallint, p_code_digest bytea,
  p_expires timestamptz, p_resend timestamptz, p_messages uuid[],
  p_at timestamptz, p_person text, p_sends smallint, p_window_minutes smallint, p_strict boolean, p_oldest uuid, p_newest uuid
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
  v verifications;
  v_accepted boolean := true;
  -- Null if the limit allows the code, or is not checked: a code that was accepted before is counted already.
  v_late boolean;
begin
  perform pg_advisory_xact_lock(verification_lock(p_account[1]));
  if p_live[1] then
    perform 1 from wallets w where w.account_id = p_account[1] for update;
    perform 1 from pools p where p.account_id = p_account[1] order by p.id for update;
  end if;
  select * into v from verifications c where c.account_id = p_account[1] and c.id = p_verification for update;
  if v.id is null or (v.message_id <> p_id[1] and (
      v.status <> 'pending' or v.resends <> p_resends
      or exists (select 1 from verifications x
                  -- Partitions are ranges of ids. `is not distinct from`: see check_codes.
                  where x.account_id is not distinct from v.account_id and x.live = v.live and x.recipient_key = v.recipient_key
                    and x.accept_no > v.accept_no and x.status <> 'failed' and in_months(x.id, p_oldest, p_newest)))) then
    item := 1; verdict := 'stale';
    return next;
    return;
  end if;
  -- Only a resend that is made needs a turn: of several simultaneous ones, the first may have taken the last.
  if p_person is not null and not (
    p_repeated and exists (select 1 from messages m where m.account_id = p_account[1] and m.id = p_id[1]))
  then
    select t.late, t.free_at into v_late, free_at
      from find_late(p_account, array[p_at], array[p_person], array[p_sends], array[p_window_minutes], array[p_strict],
        p_oldest, p_newest) t;
    if v_late then
      item := 1; verdict := 'late';
      return next;
      return;
    end if;
    free_at := null;
  end if;

  for item, verdict, key_hash, key_message, key_status, key_body, key_created in
    select s.* from accept_sends(
      p_node, p_now, p_operation, p_repeated, p_account, p_id, p_key, p_hash, p_live, p_status, p_channel, p_type,
      p_recipient, p_country, p_provider, p_connection, p_sender, p_source, p_candidates, p_content, p_metadata,
      p_template, p_job, p_amount, p_parts, p_pooled, p_due, p_scheduled, p_owned, p_begun, p_secret, p_answer) s
  loop
    v_accepted := false;
    return next;
  end loop;
  if not v_accepted then
    return;
  end if;
  if v_late is not null then
    item := 1; verdict := 'watched';
    return next;
  end if;

  update verifications c set
      resends = c.resends + 1, message_id = p_id[1], channel = p_channel[1],
      code_hash = sha256(p_code_digest || uuid_send(c.id)), expires_at = p_expires, resend_at = p_resend,
      messages = c.messages || p_messages, codes_at = coalesce(c.codes_at, array[c.started_at]) || p_at
   where c.account_id = p_account[1] and c.id = p_verification;
  perform tell_verifications(p_now, 'verification.sent', p_account, array[p_verification], null);
end $$;
