-- All that an endpoint may listen to in order to be told of an event: the type, the families that it
-- is of (`bot.*` and `bot.subscriber.*` of `bot.subscriber.started`), everything.
create function event_names(type text) returns text[] language sql immutable parallel safe as $$
  select array[type, split_part(type, '.', 1) || '.*', left(type, length(type) - position('.' in reverse(type))) || '.*', '*']
$$;

-- As before (0005), families besides.
create or replace function fan_out() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from fresh) then return null; end if;
  insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, order_key, due_at)
    select f.account_id, uuid_at(f.at), 'endpoint', e.id, f.id, f.type, f.message_id, f.at
      from fresh f join webhook_endpoints e on e.account_id = f.account_id
     where e.enabled and e.event_types && event_names(f.type) and f.type <> 'webhook.test';
  return null;
end $$;

-- What was given up or taken back: what people look for, and few among many. A delivery that goes well
-- is never in it.
create index deliveries_bad on deliveries (account_id, target_id, seq) where status in ('failed', 'cancelled');
