drop function if exists find_suppressed;

-- The channels ('*' for all) on which these recipients are suppressed, for
-- messages over p_connection from p_sender. Opt-outs sent to a number that
-- accounts share (stored for the platform) apply unless the sender is the account's own and
-- approved. A bot's group that has moved has two ids (negative numbers): a suppression of one
-- applies to both. The orders make each look-up of suppressions one by their key: a plan that was made while the table was
-- empty would compare all suppressions of the account with each recipient.
create function find_suppressed(p_account uuid[], p_key text[], p_connection uuid[], p_sender text[])
returns table (item integer, channel text)
language sql stable
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
  with asked as materialized (
    select * from unnest(p_account, p_key, p_connection, p_sender) with ordinality
      as i (account_id, key, connection_id, sender, n)
  ),
  keys as materialized (
    select a.n, a.account_id, a.key from asked a
    union all
    select a.n, a.account_id, m.moved_to from asked a
      join bot_subscribers m on m.account_id = any (array[a.account_id]) and m.chat_id = a.key
     where left(a.key, 1) = '-' and m.moved_to is not null
    union all
    select a.n, a.account_id, m.chat_id from asked a
      join bot_subscribers m on m.account_id = any (array[a.account_id]) and m.moved_to = a.key
     where left(a.key, 1) = '-'
  )
  select k.n::integer, s.channel from keys k
   cross join lateral (
     select x.channel from suppressions x
      where x.account_id = any (array[k.account_id]) and x.recipient_key = k.key and x.connection_id is null
      order by x.account_id, x.recipient_key, x.channel, x.connection_id) s
  union all
  select a.n::integer, s.channel from asked a
   cross join lateral (
     select x.channel from suppressions x
      where x.account_id = any (array['00000000-0000-0000-0000-000000000000'::uuid]) and x.recipient_key = a.key
        and x.connection_id is not distinct from a.connection_id
      order by x.account_id, x.recipient_key, x.channel, x.connection_id) s
   where not exists (select 1 from sms_senders o where o.account_id = a.account_id and o.name = a.sender
                                               and o.status = 'approved')
$$;
