-- What is told to others over HTTP: webhook endpoints, and every event on its way
-- to one of them or to the callback of an SMS sender name.

create table webhook_endpoints (
  account_id uuid not null,
  id uuid not null,
  url text not null,
  description text not null default '',
  -- '*' stands for every type.
  event_types text[] not null,
  enabled boolean not null default true,
  -- Sealed; the earlier secret signs too until its time is over.
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  -- When the attempts began to fail without one success since.
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('request', 'failing', 'gone')),
  primary key (account_id, id)
);

-- One event on its way to one target: a webhook endpoint, or an SMS sender name
-- with a callback. Those of one target with the same order_key (a message) leave
-- one after the other, in the order of seq. `owner` is the node that has it in
-- its hands, since claimed_at; months are ranges of ids, as of messages.
create sequence deliveries_seq;
create table deliveries (
  account_id uuid not null,
  id uuid not null,
  seq bigint not null default nextval('deliveries_seq'),
  target_kind text not null check (target_kind in ('endpoint', 'sender')),
  target_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  order_key uuid,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  due_at timestamptz not null,
  owner bigint,
  claimed_at timestamptz,
  attempts smallint not null default 0,
  last_at timestamptz,
  last_status smallint,
  last_error text,
  ended_at timestamptz,
  -- The delivery that somebody asked to have repeated.
  replay_of uuid,
  primary key (account_id, id)
) partition by range (id);
alter sequence deliveries_seq owned by deliveries.seq;

-- What can be taken, by target and time; who is next in a line; what is in hands; the list of an endpoint.
create index deliveries_due on deliveries (account_id, target_id, due_at, seq) where status = 'pending' and owner is null;
create index deliveries_line on deliveries (account_id, target_id, order_key, seq) where status = 'pending';
create index deliveries_owned on deliveries (owner) where owner is not null;
create index deliveries_list on deliveries (account_id, target_id, seq);

create table deliveries_other partition of deliveries default;

create or replace function ensure_month(month date) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', month::timestamp) at time zone 'UTC';
  next timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC';
  suffix text := to_char(month, 'YYYY_MM');
begin
  perform pg_advisory_xact_lock(hashtext('posthorn_partitions'));
  perform make_partition('messages', 'messages_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 60, autovacuum_vacuum_insert_scale_factor = 0.1');
  perform make_partition('events', 'events_' || suffix, first_uuid_at(first), first_uuid_at(next), 'fillfactor = 100');
  perform make_partition('deliveries', 'deliveries_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000');
end $$;

select ensure_month((now() at time zone 'UTC')::date);
select ensure_month(((now() at time zone 'UTC') + interval '1 month')::date);

-- Whoever listens is told by the transaction in which it happened: an event
-- cannot be stored without its deliveries. For the statement, not for the row:
-- whole batches of events are fanned out by one insert, and a batch of accounts
-- without listeners, which writes no event, costs one look (3 µs; the settings of
-- the calling function hold here too, and setting them again costs twice as much).
-- A test of an endpoint is for that endpoint alone, and finds its own way.
create function fan_out() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from fresh) then return null; end if;
  insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, order_key, due_at)
    select f.account_id, uuid_at(f.at), 'endpoint', e.id, f.id, f.type, f.message_id, f.at
      from fresh f join webhook_endpoints e on e.account_id = f.account_id
     where e.enabled and e.event_types && array[f.type, '*'] and f.type <> 'webhook.test';
  return null;
end $$;
create trigger fan_out after insert on events referencing new table as fresh
  for each statement execute function fan_out();

-- Targets that have something in nobody's hands, in the order of their ids behind
-- p_after: found by leaping from one to the next in the index, so that a target
-- with a million rows costs as much as one with a single row. `ready` says that
-- something is due; `open` that the target still takes anything.
create function delivery_targets(p_now timestamptz, p_after_account uuid, p_after_target uuid, p_limit integer)
returns table (account_id uuid, target_kind text, target_id uuid, ready boolean, open boolean)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  r record;
begin
  account_id := p_after_account;
  target_id := p_after_target;
  for i in 1..p_limit loop
    select d.account_id, d.target_kind, d.target_id, d.due_at into r from deliveries d
     where d.status = 'pending' and d.owner is null
       and (d.account_id, d.target_id) > (delivery_targets.account_id, delivery_targets.target_id)
     order by d.account_id, d.target_id, d.due_at limit 1;
    exit when not found;
    account_id := r.account_id;
    target_kind := r.target_kind;
    target_id := r.target_id;
    ready := r.due_at <= p_now;
    open := r.target_kind = 'sender' or exists (
      select 1 from webhook_endpoints e where e.account_id = r.account_id and e.id = r.target_id and e.enabled);
    return next;
  end loop;
end $$;

-- Takes due deliveries for this node, of each target at most p_room. One whose
-- line has an earlier one pending stays, and is put off: until that one is due,
-- or, where it is in somebody's hands, until it is surely out of them. Its end
-- wakes the next of its line (finish_deliveries). So lines that wait for a slow
-- or dead receiver are not looked through at every turn, nor do they hide the
-- others. Waits for nobody: what somebody else has locked is left for next time.
create function claim_deliveries(
  p_node bigint, p_now timestamptz, p_account uuid[], p_target uuid[], p_room integer[])
returns table (
  account_id uuid, id uuid, target_kind text, target_id uuid, event_id uuid, event_type text, attempts smallint,
  event_at timestamptz, data jsonb, url text, secret bytea, previous_secret bytea, previous_until timestamptz,
  message_id uuid, live boolean, channel text, message_type text, recipient text, country text, sender text,
  provider text, metadata json, amount bigint, parts smallint, error_code text, error_detail text, currency text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with seen as materialized (
    select d.account_id, d.id, d.target_id, d.due_at, d.seq, l.room,
           (select e.id from deliveries e
             where e.status = 'pending' and e.account_id = d.account_id and e.target_id = d.target_id
               and e.order_key = d.order_key and e.seq < d.seq
             order by e.seq limit 1) as behind
      from unnest(p_account, p_target, p_room) as l (account_id, target_id, room),
           lateral (
             select q.* from deliveries q
              where q.status = 'pending' and q.owner is null and q.account_id = l.account_id
                and q.target_id = l.target_id and q.due_at <= p_now
              -- More than the room, or those who wait in a line could hide those who need not.
              order by q.due_at, q.seq limit l.room + 100 for update skip locked
           ) d
  ), first as (
    select s.account_id, s.id, s.room, row_number() over (partition by s.target_id order by s.due_at, s.seq) as place
      from seen s where s.behind is null
  ), taken as (
    update deliveries d set owner = p_node, claimed_at = p_now
      from first f
     where f.place <= f.room and d.account_id = f.account_id and d.id = f.id
    returning d.*
  ), late as (
    -- The one ahead is locked, so that it ends before this or after it; in between its end would wake nobody.
    select s.account_id, s.id, case when a.owner is null then a.due_at else p_now + interval '20 seconds' end as until
      from seen s, lateral (
        select e.owner, e.due_at, e.status from deliveries e
         where e.account_id = s.account_id and e.id = s.behind limit 1 for update skip locked
      ) a
     where s.behind is not null and a.status = 'pending'
  ), put_off as (
    update deliveries d set due_at = l.until from late l
     where d.account_id = l.account_id and d.id = l.id and l.until > d.due_at
  )
  select t.account_id, t.id, t.target_kind, t.target_id, t.event_id, t.event_type, t.attempts,
         e.at, e.data, coalesce(w.url, n.webhook_url), coalesce(w.secret, n.webhook_secret),
         w.previous_secret, w.previous_until,
         m.id, m.live, m.channel, m.message_type, m.recipient, m.country, m.sender,
         m.provider, m.metadata, m.amount, m.parts, m.error_code, m.error_detail, c.currency
    from taken t
    left join events e on e.account_id = t.account_id and e.id = t.event_id
    left join webhook_endpoints w on t.target_kind = 'endpoint' and w.account_id = t.account_id and w.id = t.target_id
    left join sms_senders n on t.target_kind = 'sender' and n.account_id = t.account_id and n.id = t.target_id
    left join messages m on m.account_id = e.account_id and m.id = e.message_id
    left join accounts c on c.id = t.account_id
   order by t.seq;
end $$;

-- Writes down what came of attempts: 'delivered', 'failed' (for good), or
-- 'pending', due again at p_due. Only for whoever still holds the delivery by the
-- claim that it names. The end of one wakes the next of its line. Returns how
-- the endpoints of these attempts stand: since when they have been failing.
create function finish_deliveries(
  p_now timestamptz, p_account uuid[], p_id uuid[], p_node bigint[], p_claimed timestamptz[], p_kind text[],
  p_due timestamptz[], p_status smallint[], p_error text[])
returns table (account_id uuid, endpoint_id uuid, failing_since timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_account uuid[];
  v_endpoint uuid[];
  v_well boolean[];
begin
  with done as (
    update deliveries d set
        status = i.kind, owner = null, claimed_at = null, attempts = d.attempts + 1,
        due_at = coalesce(i.due, d.due_at), last_at = p_now, last_status = i.status, last_error = i.error,
        ended_at = case when i.kind <> 'pending' then p_now end
      from unnest(p_account, p_id, p_node, p_claimed, p_kind, p_due, p_status, p_error)
        as i (account_id, id, node, claimed, kind, due, status, error)
     where d.account_id = i.account_id and d.id = i.id and d.owner = i.node and d.claimed_at = i.claimed
       and d.status = 'pending'
    returning d.account_id, d.id, d.target_kind, d.target_id, d.order_key, d.seq, d.status
  ), woken as (
    update deliveries n set due_at = p_now
      from (
        select f.account_id, f.id from done, lateral (
          select x.account_id, x.id from deliveries x
           where x.status = 'pending' and x.account_id = done.account_id and x.target_id = done.target_id
             and x.order_key = done.order_key and x.seq > done.seq
           order by x.seq limit 1) f
         where done.status <> 'pending'
      ) next
     -- Also where it seems to be due: it may be put off at this moment, by whoever then is waited for here.
     where n.account_id = next.account_id and n.id = next.id and n.owner is null
  ), health as (
    select d.account_id, d.target_id, bool_or(d.status = 'delivered') as well
      from done d where d.target_kind = 'endpoint' group by d.account_id, d.target_id
  )
  select array_agg(h.account_id order by h.account_id, h.target_id),
         array_agg(h.target_id order by h.account_id, h.target_id),
         array_agg(h.well order by h.account_id, h.target_id)
    into v_account, v_endpoint, v_well from health h;

  -- An endpoint that is as it was is not touched: this runs for every attempt.
  update webhook_endpoints e set failing_since = case when not i.well then p_now end
    from unnest(v_account, v_endpoint, v_well) as i (account_id, id, well)
   where e.account_id = i.account_id and e.id = i.id and (e.failing_since is null) <> i.well;
  return query
    select e.account_id, e.id, e.failing_since
      from unnest(v_account, v_endpoint) as i (account_id, id)
      join webhook_endpoints e on e.account_id = i.account_id and e.id = i.id;
end $$;
