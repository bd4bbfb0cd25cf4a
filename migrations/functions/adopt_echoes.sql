drop function if exists adopt_echoes;

-- Parked receipts that name our own id of an attempt which is unknown: what the provider calls the
-- message is known from then on, and apply_parked finds it. Where the provider has ids for parts alone, and
-- the message has several, the receipts of all of them together speak for it (join_parts), and it goes by
-- the first id with a comma and dots. Returns how many messages were found.
create function adopt_echoes() returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
declare
  v_adopted integer;
  v_pieced integer;
begin
  with echoed as (
    select distinct on (m.account_id, m.id) m.account_id, m.id, p.connection_id, p.provider_id
      from parked_receipts p
      join outbox o on o.message_id = p.message_id and o.connection_id = p.connection_id and o.owner is null and o.begun
      join messages m on m.account_id = o.account_id and m.id = o.message_id
     where p.message_id is not null and m.status = 'unknown' and m.attempt = p.attempt
       and not (p.of_part and m.parts > 1)
     order by m.account_id, m.id, p.id desc
     limit 1000
  ), named as (
    update messages m set provider_id = e.provider_id
      from echoed e
     where m.account_id = e.account_id and m.id = e.id and m.status = 'unknown'
    returning e.connection_id, e.provider_id, m.account_id, m.id
  )
  insert into provider_refs (connection_id, provider_id, account_id, message_id)
    select connection_id, provider_id, account_id, id from named order by account_id, id
  on conflict (connection_id, provider_id) do nothing;
  get diagnostics v_adopted = row_count;
  if not exists (select 1 from parked_receipts where message_id is not null and of_part) then
    return v_adopted;
  end if;

  with pieces as (
    select m.account_id, m.id, p.connection_id, p.provider_id, p.received_at, m.parts, p.id as nth,
           case when m.provider_id like '%,…' then m.provider_id end as whole_id
      from parked_receipts p
      join outbox o on o.message_id = p.message_id and o.connection_id = p.connection_id and o.owner is null and o.begun
      join messages m on m.account_id = o.account_id and m.id = o.message_id
     where p.message_id is not null and p.of_part and m.parts > 1 and m.status = 'unknown' and m.attempt = p.attempt
       and not exists (select 1 from message_parts k where k.connection_id = p.connection_id and k.part_id = p.provider_id)
     limit 1000
  ), firsts as (
    select distinct on (f.account_id, f.id) f.account_id, f.id, f.connection_id, f.provider_id || ',…' as whole_id
      from pieces f where f.whole_id is null order by f.account_id, f.id, f.nth
  ), named as (
    -- Of two nodes at once the second finds the name that the first one gave, the next time.
    update messages m set provider_id = f.whole_id
      from firsts f
     where m.account_id = f.account_id and m.id = f.id and m.status = 'unknown'
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
