drop function if exists official_name;

-- The sender of messages that were sent over a connection of the official chat app: its number, or its name
-- if the number is unknown or the platform's; null for a deleted connection. The same as in lists of messages
-- (namesFor in core/senders/official.ts).
create function official_name(p_account uuid, p_connection uuid) returns text
language sql stable
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
  select case when c.account_id = p_account
           then coalesce(o.phone_number, nullif(o.display_name, ''), c.name)
           else coalesce(nullif(o.display_name, ''), 'Platform') end
    from unnest(array[p_account, '00000000-0000-0000-0000-000000000000'::uuid]) as owner (id)
    join connections c on c.account_id = any (array[owner.id]) and c.id = p_connection and 'official_chatapp' = any (c.channels)
    left join official_senders o on o.account_id = any (array[c.account_id]) and o.connection_id = c.id and o.checked_at is not null
   limit 1
$$;
