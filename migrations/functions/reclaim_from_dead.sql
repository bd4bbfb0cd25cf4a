drop function if exists reclaim_from_dead;

-- Releases rows that dead nodes held, at most p_limit: rows that are not begun can be claimed
-- again, begun attempts become unknown. Returns how many of each.
create function reclaim_from_dead(p_now timestamptz, p_deadline timestamptz, p_limit integer)
returns table (freed integer, unknown integer)
language plpgsql as $$
#variable_conflict use_column
declare
  v_account uuid[];
  v_id uuid[];
  v_begun boolean[];
begin
  -- Skips rows that are locked: they are being settled, or are found in the next call.
  -- So this never waits, and its order of locks does not matter.
  select array_agg(d.account_id), array_agg(d.message_id), array_agg(d.begun) into v_account, v_id, v_begun from (
    select o.account_id, o.message_id, o.begun
      from outbox o, lateral (
        select 1 from messages m where m.account_id = o.account_id and m.id = any (just(o.message_id)) for update skip locked) free
     where o.owner is not null and not exists (select 1 from nodes n where n.id = o.owner)
     limit p_limit for update of o skip locked) d;

  with dead as (
    select * from unnest(v_account, v_id, v_begun) as d (account_id, message_id, begun)
  ), free as (
    update outbox o set owner = null from dead
     where not dead.begun and o.account_id = any (array[dead.account_id]) and o.message_id = dead.message_id
    returning 1
  ), lost as (
    update outbox o set owner = null, due_at = p_deadline, secret = null from dead
     where dead.begun and o.account_id = any (array[dead.account_id]) and o.message_id = dead.message_id
    returning o.account_id, o.message_id
  ), marked as (
    update messages m set status = 'unknown', unknown_at = p_now, settled_at = p_now, provider_code = null,
           error_detail = 'the process ended while the provider was being asked'
      from lost where m.account_id = any (array[lost.account_id]) and m.id = lost.message_id and m.status = 'sending'
    returning m.account_id, m.id, m.live, m.channel
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select k.account_id, uuid_at(p_now), 'message.unknown', k.id, p_now
        from marked k join accounts c on c.id = any (array[k.account_id])
       where 'message.unknown' = any (c.event_types)
  ), counted as (
    insert into message_deltas (account_id, live, hour, channel, unknown)
      select k.account_id, k.live, date_trunc('hour', p_now, 'UTC'), k.channel, count(*)
        from marked k group by k.account_id, k.live, k.channel
  ) select (select count(*) from free), (select count(*) from lost), array_agg(k.account_id), array_agg(k.id)
      into freed, unknown, v_account, v_id from marked k;
  if exists (select 1 from watched_accounts) then
    perform note_moves(p_now, v_account, v_id);
  end if;
  return next;
end $$;
