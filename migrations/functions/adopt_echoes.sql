drop function if exists adopt_echoes;

-- Takes the provider's message id from parked receipts that name our id of an unknown attempt;
-- apply_parked then applies the receipts. So it does for a message that counts as sent since its deadline, which is
-- found by the name of its attempt that close_unknown left. If the provider has ids only for parts, and the message has
-- several, join_parts combines the receipts of all parts, and the message's provider id is
-- the first part's id followed by ',…'.
-- If a provider reports an attempt as accepted that it had refused before, and the message waits for its next
-- attempt, that wait ends: the message becomes unknown with that attempt, and is not sent again. Not if a
-- failover has changed its channel, and so its price. Returns how many messages were found.
--
-- Messages that are locked are left for the next call: those of each statement are locked in order, but not those of all
-- together, and so a wait could be a deadlock.
--
-- Each message is found from its receipt by key, also with a plan that was made while the tables were empty. Starting
-- from the unknown messages would read all of them in each call (22,000: 330 ms, once a second).
create function adopt_echoes(p_now timestamptz default now()) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
-- The order of message ids is that of the small index of receipts that name one, which no plan can do without then.
set enable_sort = off
set jit = off
as $$
declare
  v_adopted integer;
  v_late integer;
  v_pieced integer;
  v_denied integer := 0;
  v_account uuid[];
  v_id uuid[];
  v_connection uuid[];
  v_provider_id text[];
  v_nth bigint[];
  v_provider text[];
begin
  with echoed as (
    select distinct on (m.account_id, m.id) m.account_id, m.id, p.connection_id, p.provider_id
      from (select * from parked_receipts x where x.message_id is not null order by x.message_id offset 0) p
     cross join lateral (
       select x.account_id, x.message_id from outbox x
        where x.message_id = p.message_id and x.connection_id is not distinct from p.connection_id
          and x.owner is null and x.begun limit 1) o
     cross join lateral (
       select x.account_id, x.id from messages x
        where x.account_id = o.account_id and x.id = any (just(o.message_id)) and x.status = 'unknown' and x.attempt = p.attempt
          and not (p.of_part and x.parts > 1) limit 1 for update skip locked) m
     order by m.account_id, m.id, p.id desc
     limit 1000
  ), named as (
    update messages m set provider_id = e.provider_id
      from echoed e
     where m.account_id = any (array[e.account_id]) and m.id = any (just(e.id)) and m.status = 'unknown'
    returning e.connection_id, e.provider_id, m.account_id, m.id
  )
  insert into provider_refs (connection_id, provider_id, account_id, message_id)
    select connection_id, provider_id, account_id, id from named order by account_id, id
  on conflict (connection_id, provider_id) do nothing;
  get diagnostics v_adopted = row_count;

  with echoed as (
    select distinct on (m.account_id, m.id) m.account_id, m.id, p.connection_id, p.provider_id
      from (select * from parked_receipts x where x.message_id is not null order by x.message_id offset 0) p
     cross join lateral (
       select x.account_id, x.message_id from provider_refs x
        where x.connection_id = p.connection_id and x.provider_id = p.message_id || '.' || p.attempt limit 1) r
     cross join lateral (
       select x.account_id, x.id from messages x
        where x.account_id = r.account_id and x.id = any (just(r.message_id)) and x.provider_id is null
          and not (p.of_part and x.parts > 1) limit 1 for update skip locked) m
     order by m.account_id, m.id, p.id desc
     limit 1000
  ), named as (
    update messages m set provider_id = e.provider_id
      from echoed e
     where m.account_id = any (array[e.account_id]) and m.id = any (just(e.id)) and m.provider_id is null
    returning e.connection_id, e.provider_id, m.account_id, m.id
  )
  insert into provider_refs (connection_id, provider_id, account_id, message_id)
    select connection_id, provider_id, account_id, id from named order by account_id, id
  on conflict (connection_id, provider_id) do nothing;
  get diagnostics v_late = row_count;

  if (select message_id from outbox where tried and not begun order by message_id limit 1) is not null then
    select array_agg(t.account_id), array_agg(t.message_id), array_agg(t.connection_id), array_agg(t.provider_id),
           array_agg(t.nth), array_agg(t.provider)
      into v_account, v_id, v_connection, v_provider_id, v_nth, v_provider
      from (
        select o.account_id, o.message_id, p.connection_id, p.provider_id, p.id as nth,
               coalesce(past.attempt -> 'left' ->> 'provider', m.provider) as provider
          from (select * from parked_receipts x where x.message_id is not null order by x.message_id offset 0) p
         cross join lateral (
           select x.account_id, x.message_id from outbox x where x.message_id = p.message_id and x.tried and not x.begun limit 1) k
          -- `is not distinct from` keeps the plan from reading the whole small index of messages that were tried.
          join outbox o on o.account_id = any (array[k.account_id]) and o.message_id = k.message_id and o.tried
               and o.begun is not distinct from false
          join messages m on m.account_id = any (array[o.account_id]) and m.id = any (just(o.message_id))
         cross join lateral (
           select a.attempt from jsonb_array_elements(m.past_attempts) as a (attempt)
            where (a.attempt ->> 'attempt')::smallint = p.attempt and (a.attempt ->> 'connection')::uuid = p.connection_id
            limit 1) past
         where p.status in ('sent', 'delivered', 'read') and m.status = 'queued'
           and not (p.of_part and m.parts > 1)
           and not exists (
             select 1 from jsonb_array_elements(m.past_attempts) as l (attempt)
              where l.attempt -> 'left' ->> 'channel' <> m.channel)
         limit 1000
           -- Skips messages that are locked: one that is being submitted now can no longer be stopped.
           for update of o, m skip locked) t;

    with taken as (
      select * from unnest(v_account, v_id, v_connection, v_provider_id, v_nth, v_provider)
        as t (account_id, message_id, connection_id, provider_id, nth, provider)
    ), named as (
      insert into provider_refs (connection_id, provider_id, account_id, message_id)
        select distinct on (t.account_id, t.message_id) t.connection_id, t.provider_id, t.account_id, t.message_id
          from taken t order by t.account_id, t.message_id, t.nth desc
      on conflict (connection_id, provider_id) do nothing
      returning *
    ), out_of_hand as (
      -- The node that holds it will not begin it. It counts as sent at `due_at` if its receipt is not applied before.
      update outbox o set begun = true, owner = null, connection_id = n.connection_id, secret = null,
             due_at = p_now + interval '1 minute', asks = 0, ask_at = '-infinity'
        from named n where o.account_id = any (array[n.account_id]) and o.message_id = n.message_id
    ), denied as (
      update messages m set status = 'unknown', unknown_at = p_now, connection_id = n.connection_id, provider = t.provider,
             provider_id = n.provider_id, provider_code = null, error_detail = null
        from named n join taken t using (account_id, message_id, connection_id, provider_id)
       where m.account_id = any (array[n.account_id]) and m.id = n.message_id
      returning 1
    ) select count(*) into v_denied from denied;
  end if;
  v_adopted := v_adopted + v_late + v_denied;

  if (select message_id from parked_receipts where message_id is not null and of_part order by message_id limit 1) is null then
    return v_adopted;
  end if;

  with pieces as (
    select m.account_id, m.id, p.connection_id, p.provider_id, p.received_at, m.parts, p.id as nth,
           case when m.provider_id like '%,…' then m.provider_id end as whole_id
      from (select * from parked_receipts x where x.message_id is not null order by x.message_id offset 0) p
     cross join lateral (
       select x.account_id, x.message_id from outbox x
        where x.message_id = p.message_id and x.connection_id is not distinct from p.connection_id
          and x.owner is null and x.begun limit 1) o
     cross join lateral (
       select * from messages x
        where x.account_id = o.account_id and x.id = any (just(o.message_id)) and x.parts > 1 and x.status = 'unknown'
          and x.attempt = p.attempt limit 1 for update skip locked) m
     where p.of_part
       -- `offset 0` makes it a look-up of its own: a join could read all parts, since their key has all columns it needs.
       and not exists (
         select 1 from message_parts k where k.connection_id = p.connection_id and k.part_id = p.provider_id offset 0)
     limit 1000
  ), firsts as (
    select distinct on (f.account_id, f.id) f.account_id, f.id, f.connection_id, f.provider_id || ',…' as whole_id
      from pieces f where f.whole_id is null order by f.account_id, f.id, f.nth
  ), named as (
    -- If two nodes do this at once, the second one changes nothing, and finds the first one's id in its next call.
    update messages m set provider_id = f.whole_id
      from firsts f
     where m.account_id = any (array[f.account_id]) and m.id = any (just(f.id)) and m.status = 'unknown'
       and (m.provider_id is null or m.provider_id not like '%,…')
    returning f.connection_id, f.whole_id, m.account_id, m.id
  ), known as (
    insert into provider_refs (connection_id, provider_id, account_id, message_id)
      select connection_id, whole_id, account_id, id from named order by account_id, id
    on conflict (connection_id, provider_id) do nothing
    returning 1
  ), noted as (
    insert into message_parts (connection_id, part_id, whole_id, total, noted_at)
      select distinct on (p.connection_id, p.provider_id)
             p.connection_id, p.provider_id, coalesce(p.whole_id, n.whole_id), p.parts, p.received_at
        from pieces p left join named n on n.account_id = p.account_id and n.id = p.id
       where coalesce(p.whole_id, n.whole_id) is not null
       order by p.connection_id, p.provider_id
    on conflict do nothing
  ) select count(*) into v_pieced from known;
  return v_adopted + v_pieced;
end $$;
