drop function if exists tell_verifications;

-- Stores an event of each verification for accounts with webhooks for it; skips null ids.
-- The event's message_id is the verification's id, which is that of its first message, so it is delivered in order
-- with that message's events. `verification.superseded` only if the code was still valid. A code that is just accepted
-- has not left its channel; later, its channel and message are those that carry it.
create function tell_verifications(p_now timestamptz, p_type text, p_account uuid[], p_id uuid[], p_reason text)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
begin
  -- Mostly no account has webhooks for it.
  if not exists (select 1 from accounts c where c.id = any (p_account) and p_type = any (c.event_types)) then
    return;
  end if;
  insert into events (account_id, id, type, message_id, at, data)
    select v.account_id, uuid_at(p_now), p_type, v.id, p_now, jsonb_build_object(
        'id', v.id, 'live', v.live, 'messageId', coalesce(m.id, v.message_id), 'channel', coalesce(m.channel, v.channel),
        'to', v.recipient, 'country', v.country, 'resendCount', v.resends, 'expiresAt', v.expires_at, 'reason', p_reason)
      from unnest(p_account, p_id) as i (account_id, id)
      join accounts c on c.id = any (array[i.account_id]) and p_type = any (c.event_types)
      join verifications v on v.account_id = any (array[i.account_id]) and v.id = i.id
      left join lateral carrier_of(v.account_id, v.messages, v.message_id) m on p_type <> 'verification.sent'
     where p_type <> 'verification.superseded' or (v.status = 'pending' and v.expires_at > p_now);
end $$;
