drop function if exists carrier_of;

-- The message that carries the last code of a verification, of which `p_first` is the first: the first one that was sent or
-- may yet be, or the first one if there is none. It is on another channel than the code was accepted for after a failover, or
-- where the code went over several channels and the first refused it, or waited until nobody could use it. No row if there is
-- no such message.
create function carrier_of(p_account uuid, p_messages uuid[], p_first uuid) returns table (id uuid, channel text)
language sql stable as $$
  select m.id, m.channel from unnest(p_messages) with ordinality as k (id, n)
   cross join lateral (select * from messages x where x.account_id = p_account and x.id = k.id limit 1) m
   where k.n >= array_position(p_messages, p_first)
   order by m.status in ('failed', 'cancelled', 'expired'), k.n limit 1
$$;
