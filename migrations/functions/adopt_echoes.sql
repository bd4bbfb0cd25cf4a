drop function if exists adopt_echoes;

-- Parked receipts that name our own id of an attempt which is unknown: what the provider calls the
-- message is known from then on, and apply_parked finds it. Returns how many messages.
create function adopt_echoes() returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
declare
  v_adopted integer;
begin
  with echoed as (
    select distinct on (m.account_id, m.id) m.account_id, m.id, p.connection_id, p.provider_id
      from parked_receipts p
      join outbox o on o.message_id = p.message_id and o.connection_id = p.connection_id and o.owner is null and o.begun
      join messages m on m.account_id = o.account_id and m.id = o.message_id
     where p.message_id is not null and m.status = 'unknown' and m.attempt = p.attempt
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
  return v_adopted;
end $$;
