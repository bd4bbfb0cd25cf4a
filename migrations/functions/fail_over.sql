drop function if exists fail_over;

-- Moves a message to another connection after an attempt that the provider did not accept, even if
-- it was unknown in between. In one transaction: the attempt is added to the past
-- ones, the money is held anew if the channel changes, and this node holds the outbox row,
-- due now and not begun. p_content is the content if it differs on the new channel, else null;
-- p_secret is its sealed part, if any. Returns
--   'moved'
--   'uncovered'  neither pool nor wallet covers the new channel; nothing has changed
--   'stale'      the attempt is no longer the message's open one; nothing has changed
-- A repeated call (its answer was lost) has the same p_now.
create function fail_over(
  p_node bigint, p_now timestamptz, p_repeated boolean, p_account uuid, p_id uuid, p_attempt smallint,
  p_outcome text, p_code text, p_provider_code text, p_detail text,
  p_connection uuid, p_provider text, p_channel text, p_sender text, p_source text, p_amount bigint, p_parts smallint,
  p_content json, p_secret bytea, p_template uuid)
returns text
language plpgsql as $$
declare
  m messages;
  v_moves_money boolean;
  v_funding text;
  v_pool smallint;
  v_pool_until timestamptz;
begin
  select * into m from messages where account_id = p_account and id = p_id for update;
  if p_repeated and m.settled_at = p_now and m.connection_id = p_connection and m.channel = p_channel then
    return 'moved';
  end if;
  if m.id is null or m.attempt <> p_attempt or m.status not in ('sending', 'unknown') then
    return 'stale';
  end if;

  v_moves_money := m.live and m.channel <> p_channel;
  v_funding := m.funding;
  v_pool := m.pool_id;
  v_pool_until := m.pool_until;
  if v_moves_money then
    begin
      perform 1 from wallets where account_id = p_account for update;
      -- All of them before the first change, as in fund_one_by_one.
      perform 1 from pools where account_id = p_account order by id for update;
      if m.funding = 'wallet' then
        update wallets set held = held - m.amount, balance = balance + m.amount where account_id = p_account;
      else
        update pools set used = greatest(0, used - 1)
         where account_id = p_account and id = m.pool_id and in_pool_month(m.id, m.past_holds, resets_at, m.pool_until);
      end if;
      select f.funding, f.pool, f.pool_until into v_funding, v_pool, v_pool_until
        from fund_one_by_one(p_account, p_now, array[p_account], array[p_channel], array[p_amount], array[true], array[true]) f;
      if v_funding is null then
        raise sqlstate 'PHDRY';
      end if;
    -- Rolls back to the old hold.
    exception when sqlstate 'PHDRY' then
      return 'uncovered';
    end;
  end if;

  update messages set
      status = 'queued',
      connection_id = p_connection, provider = p_provider, channel = p_channel,
      sender = p_sender, sender_source = p_source, parts = p_parts,
      -- Within a channel the hold stays as it is, even if prices have changed.
      amount = case when m.channel = p_channel then m.amount else p_amount end,
      funding = v_funding, pool_id = v_pool, pool_until = v_pool_until,
      content = coalesce(p_content, m.content),
      template_id = case when p_content is null then m.template_id else p_template end,
      settled_at = p_now, provider_id = null, provider_code = p_provider_code, error_detail = p_detail,
      past_attempts = coalesce(m.past_attempts, '[]') || jsonb_build_object(
        'attempt', m.attempt, 'at', m.attempt_at, 'settledAt', p_now, 'connection', m.connection_id, 'counted', true,
        'providerCode', p_provider_code, 'detail', p_detail,
        -- Only the last attempt over a connection has `left`.
        'left', jsonb_build_object('outcome', p_outcome, 'code', p_code, 'provider', m.provider, 'channel', m.channel)),
      past_holds = case when v_moves_money
        then coalesce(m.past_holds, '[]') || jsonb_build_object('amount', m.amount, 'funding', m.funding, 'until', p_now)
        else m.past_holds end,
      told = case when m.told is null and m.answer is not null
        then jsonb_build_object('channel', m.channel, 'provider', m.provider, 'senderSource', m.sender_source,
          'amount', m.amount, 'parts', m.parts)
        else m.told end
   where account_id = p_account and id = p_id;

  update outbox set connection_id = p_connection, due_at = p_now, owner = p_node, begun = false,
         tried = true, asks = 0, ask_at = '-infinity', secret = coalesce(p_secret, secret)
   where account_id = p_account and message_id = p_id;
  if exists (select 1 from watched_accounts) then
    perform note_moves(p_now, array[p_account], array[p_id]);
  end if;
  return 'moved';
end $$;
