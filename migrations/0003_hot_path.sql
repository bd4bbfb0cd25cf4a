-- The functions of the hot path. Each takes a whole batch as parallel arrays and
-- is one transaction by being one statement. What all of them keep to:
--
--  * order of locks: idempotency keys, then messages, then wallets, each in the
--    order of the input, which the caller sorts by account and id; so two nodes
--    never wait for each other in a circle;
--  * a refused item refuses itself, never its neighbours;
--  * the plan is fixed here, not left to statistics that a fresh or freshly
--    emptied table does not have (it cost up to twice the time): nested loops over
--    primary keys, driven by the batch.

-- Accepts sends: claims idempotency keys, holds money, stores messages and outbox
-- rows. Returns a row for each item that was not simply accepted:
--   'exists'        the key is taken; the row that holds it follows
--   'again'         this very message was accepted before (a repeated flush)
--   'insufficient'  neither pool nor wallet covers it
create function accept_sends(
  p_node bigint, p_now timestamptz, p_operation smallint, p_repeated boolean,
  p_account uuid[], p_id uuid[], p_key text[], p_hash bytea[],
  p_live boolean[], p_status text[], p_channel text[], p_type text[], p_recipient text[], p_country text[],
  p_provider text[], p_connection uuid[], p_sender text[], p_source text[], p_candidates text[],
  p_content json[], p_metadata json[], p_template uuid[], p_job uuid[],
  p_amount bigint[], p_parts smallint[], p_pooled boolean[],
  p_due timestamptz[], p_scheduled timestamptz[], p_owned boolean[], p_begun boolean[], p_secret bytea[], p_answer text[]
) returns table (
  item integer, verdict text, key_hash bytea, key_message uuid, key_status smallint, key_body text, key_created timestamptz
)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_items constant integer := cardinality(p_id);
  v_take boolean[] := array_fill(true, array[v_items]);
  v_funding text[] := array_fill('wallet'::text, array[v_items]);
  v_pool smallint[] := array_fill(null::smallint, array[v_items]);
  v_hard uuid[];
  v_locked boolean;
  v_keys integer;
  v_claimed integer;
  r record;
begin
  if p_repeated then
    for r in
      select i.n::integer as n from unnest(p_account, p_id) with ordinality as i (account_id, id, n)
      join messages m on m.account_id = i.account_id and m.id = i.id
    loop
      v_take[r.n] := false;
      item := r.n; verdict := 'again';
      return next;
    end loop;
  end if;

  -- Keys. All new is the rule; only otherwise is it worth finding out which are not.
  select count(*) into v_keys
    from unnest(p_key, v_take) as i (key, take) where i.key is not null and i.take;
  if v_keys > 0 then
    insert into idempotency (account_id, operation, key, body_hash, message_id, created_at)
      select i.account_id, p_operation, i.key, i.hash, i.id, p_now
        from unnest(p_account, p_id, p_key, p_hash, v_take) as i (account_id, id, key, hash, take)
       where i.key is not null and i.take
    on conflict do nothing;
    get diagnostics v_claimed = row_count;
    if v_claimed < v_keys then
      for r in
        select i.n::integer as n, k.* from unnest(p_account, p_id, p_key) with ordinality as i (account_id, id, key, n)
          join idempotency k on k.account_id = i.account_id and k.operation = p_operation and k.key = i.key
         where k.message_id is distinct from i.id or k.status is not null
      loop
        if v_take[r.n] then
          v_take[r.n] := false;
          item := r.n; verdict := 'exists';
          key_hash := r.body_hash; key_message := r.message_id; key_status := r.status;
          key_body := r.body; key_created := r.created_at;
          return next;
        end if;
      end loop;
    end if;
  end if;

  -- Money. A wallet that covers all of its items pays them at once. Accounts with a
  -- pool in play, or too little, are paid item by item behind that: then the wallets
  -- are locked first, so that they still are locked in the order of accounts.
  v_locked := true = any (p_pooled);
  loop
    begin
      if v_locked then
        perform 1 from wallets w where w.account_id = any (p_account) order by w.account_id for update;
      end if;
      with need as (
        select i.account_id, sum(i.amount)::bigint as amount, bool_or(i.pooled) as pooled
          from unnest(p_account, p_amount, p_live, p_pooled, v_take) as i (account_id, amount, live, pooled, take)
         where i.live and i.take
         group by i.account_id
         order by i.account_id
      ), paid as (
        update wallets w set balance = w.balance - need.amount, held = w.held + need.amount
          from need
         where w.account_id = need.account_id and not need.pooled and w.balance >= need.amount
        returning w.account_id
      )
      select array_agg(need.account_id order by need.account_id) into v_hard
        from need where not exists (select 1 from paid where paid.account_id = need.account_id);
      exit when v_locked or v_hard is null;
      -- Undoes the payments, and with them their locks.
      raise sqlstate 'PHDRY';
    exception when sqlstate 'PHDRY' then
      v_locked := true;
    end;
  end loop;

  if v_hard is not null then
    for r in
      select f.* from unnest(v_hard) as h (account_id),
             lateral fund_one_by_one(h.account_id, p_now, p_account, p_channel, p_amount, p_live, v_take) as f
    loop
      v_funding[r.item] := r.funding;
      v_pool[r.item] := r.pool;
      if r.funding is null then
        v_take[r.item] := false;
        item := r.item; verdict := 'insufficient';
        key_hash := null; key_message := null; key_status := null; key_body := null; key_created := null;
        return next;
      end if;
    end loop;
    -- The status says it all: the answer's words follow from it and the message's id.
    update idempotency k set status = 402
      from unnest(p_account, p_id, p_key, v_funding) as i (account_id, id, key, funding)
     where i.funding is null and k.account_id = i.account_id and k.operation = p_operation and k.key = i.key
       and k.message_id = i.id;
  end if;

  insert into messages (
    account_id, id, live, attempt, parts, pool_id, status, channel, message_type, recipient, country,
    provider, connection_id, sender, sender_source, candidates, content, metadata, template_id, bulk_job_id,
    amount, funding, money, answer, attempt_at, scheduled_at)
  select i.account_id, i.id, i.live, i.begun::integer, i.parts, i.pool, i.status, i.channel, i.type, i.recipient, i.country,
         i.provider, i.connection, i.sender, i.source, i.candidates, i.content, i.metadata, i.template, i.job,
         i.amount, case when i.live then i.funding else 'none' end, case when i.live then 'held' else 'none' end,
         i.answer, case when i.begun then p_now end, i.scheduled
    from unnest(
      p_account, p_id, p_live, p_parts, v_pool, p_status, p_channel, p_type, p_recipient, p_country,
      p_provider, p_connection, p_sender, p_source, p_candidates, p_content, p_metadata, p_template, p_job,
      p_amount, v_funding, p_begun, p_scheduled, p_answer, v_take
    ) as i (
      account_id, id, live, parts, pool, status, channel, type, recipient, country,
      provider, connection, sender, source, candidates, content, metadata, template, job,
      amount, funding, begun, scheduled, answer, take)
   where i.take;

  insert into outbox (account_id, message_id, connection_id, due_at, owner, begun, secret)
  select i.account_id, i.id, i.connection, i.due, case when i.owned then p_node end, i.begun, i.secret
    from unnest(p_account, p_id, p_connection, p_due, p_owned, p_begun, p_secret, v_take)
      as i (account_id, id, connection, due, owned, begun, secret, take)
   where i.take;
end $$;

-- Pays an account's items in their order, each on its own: the plan's pools that
-- know the channel first, then the wallet. `funding` is null where nothing covers it.
create function fund_one_by_one(
  p_of uuid, p_now timestamptz, p_account uuid[], p_channel text[], p_amount bigint[], p_live boolean[], p_take boolean[]
) returns table (item integer, funding text, pool smallint)
language plpgsql as $$
#variable_conflict use_column
declare
  r record;
begin
  perform 1 from wallets where account_id = p_of for update;
  update pools set used = 0, resets_at = next_reset(resets_at, p_now) where account_id = p_of and resets_at <= p_now;
  for r in
    select i.n::integer as n, i.channel, i.amount
      from unnest(p_account, p_channel, p_amount, p_live, p_take) with ordinality as i (account_id, channel, amount, live, take, n)
     where i.account_id = p_of and i.live and i.take
     order by i.n
  loop
    item := r.n; funding := null; pool := null;
    update pools set used = used + 1
     where account_id = p_of and id = (
       select p.id from pools p
        where p.account_id = p_of and r.channel = any (p.channels) and p.used < p.included
        order by p.id limit 1)
    returning 'pool', id into funding, pool;
    if funding is null then
      update wallets set balance = balance - r.amount, held = held + r.amount
       where account_id = p_of and balance >= r.amount
      returning 'wallet' into funding;
    end if;
    return next;
  end loop;
end $$;

-- The first monthly reset after `at`, on the day of month that `from_reset` has.
create function next_reset(from_reset timestamptz, at timestamptz) returns timestamptz language sql immutable as $$
  select ((from_reset at time zone 'UTC') + make_interval(months =>
    1 + greatest(0, (extract(year from age(at at time zone 'UTC', from_reset at time zone 'UTC')) * 12
      + extract(month from age(at at time zone 'UTC', from_reset at time zone 'UTC')))::integer))) at time zone 'UTC'
$$;

-- Records attempts before the provider is called. Returns the items that this node
-- may submit: it still holds them, and nobody cancelled them meanwhile. A repeated
-- call (its answer was lost) has the same p_now, and returns what the first one began.
create function begin_attempts(p_node bigint, p_now timestamptz, p_repeated boolean, p_account uuid[], p_id uuid[])
returns table (item integer, attempt smallint)
language sql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
  with mine as (
    update outbox o set begun = true
      from unnest(p_account, p_id) with ordinality as i (account_id, id, n)
     where o.account_id = i.account_id and o.message_id = i.id and o.owner = p_node and (not o.begun or p_repeated)
    returning o.account_id, o.message_id, i.n
  )
  update messages m set
      status = 'sending',
      attempt = case when m.status = 'sending' then m.attempt else m.attempt + 1 end,
      attempt_at = p_now
    from mine
   where m.account_id = mine.account_id and m.id = mine.message_id
     and (m.status in ('queued', 'scheduled') or (p_repeated and m.status = 'sending' and m.attempt_at = p_now))
  returning mine.n::integer, m.attempt
$$;

-- Settles attempts. What the outcome makes of a message was decided by the caller
-- (core/messages/transitions.ts) and arrives as:
--   'sent'     taken: capture
--   'failed'   refused for good: release
--   'queued'   not taken: due again at p_due
--   'unknown'  nobody knows: the hold stays until p_due
-- An item whose attempt is no longer the message's current one changes nothing.
-- `p_uncounted` marks throttled attempts, which are no tries. `p_forget_key` names
-- the idempotency key of an answer that must not be replayed (a 5xx), to be dropped.
-- A repeated call (its answer was lost) has the same p_now: what the first one
-- settled is left alone, since it may have been begun again.
-- Returns, per item that applied: what the sender is to be told.
create function settle_attempts(
  p_node bigint, p_now timestamptz, p_repeated boolean,
  p_account uuid[], p_id uuid[], p_attempt smallint[], p_kind text[], p_connection uuid[],
  p_provider_id text[], p_provider_code text[], p_error_code text[], p_error_detail text[],
  p_due timestamptz[], p_uncounted boolean[], p_answer text[], p_forget_operation smallint[], p_forget_key text[], p_event uuid[]
) returns table (item integer, answer text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  -- What is still to be done of each item, and which of them applied.
  v_kind text[] := p_kind;
  v_item integer[];
  v_answer text[];
  v_parked bigint[];
  v_done integer;
begin
  if p_repeated then
    for v_done in
      select i.n::integer from unnest(p_account, p_id, p_kind) with ordinality as i (account_id, id, kind, n)
        join messages m on m.account_id = i.account_id and m.id = i.id
       where m.settled_at = p_now and (m.status <> 'unknown' or i.kind = 'unknown')
    loop
      v_kind[v_done] := null;
    end loop;
  end if;

  with applied as (
    update messages m set
      status = i.kind,
      attempt = case when i.uncounted then m.attempt - 1 else m.attempt end,
      settled_at = p_now,
      provider_id = coalesce(i.provider_id, m.provider_id),
      provider_code = i.provider_code,
      error_code = i.error_code,
      error_detail = i.error_detail,
      past_attempts = case when i.kind = 'queued' then coalesce(m.past_attempts, '[]') || jsonb_build_object(
          'attempt', m.attempt, 'at', m.attempt_at, 'settledAt', p_now, 'connection', m.connection_id,
          'counted', not i.uncounted, 'providerCode', i.provider_code, 'detail', i.error_detail)
        else m.past_attempts end,
      money = case when m.money = 'held' and i.kind = 'sent' then 'captured'
                   when m.money = 'held' and i.kind = 'failed' then 'released' else m.money end,
      money_at = case when m.money = 'held' and i.kind in ('sent', 'failed') then p_now else m.money_at end,
      answer = coalesce(m.answer, i.answer),
      unknown_at = case when i.kind = 'unknown' then p_now else m.unknown_at end,
      sent_at = case when i.kind = 'sent' then p_now else m.sent_at end,
      ended_at = case when i.kind = 'failed' then p_now else m.ended_at end
    from unnest(p_account, p_id, p_attempt, v_kind, p_connection, p_provider_id, p_provider_code, p_error_code,
                p_error_detail, p_uncounted, p_answer, p_event) with ordinality
      as i (account_id, id, attempt, kind, connection, provider_id, provider_code, error_code,
            error_detail, uncounted, answer, event, n)
    where i.kind is not null and m.account_id = i.account_id and m.id = i.id and m.attempt = i.attempt
      and (m.status = 'sending' or (m.status = 'unknown' and i.kind <> 'unknown'))
    returning m.account_id, m.id, m.status, m.amount, m.funding, m.money, m.answer, i.connection, i.provider_id, i.event, i.n
  ), wallet as (
    update wallets w set
      held = w.held - s.captured - s.released, captured = w.captured + s.captured, balance = w.balance + s.released
    from (
      select a.account_id,
             coalesce(sum(a.amount) filter (where a.money = 'captured'), 0)::bigint as captured,
             coalesce(sum(a.amount) filter (where a.money = 'released'), 0)::bigint as released
        from applied a where a.funding = 'wallet' and a.status in ('sent', 'failed')
       group by a.account_id order by a.account_id
    ) s
    where w.account_id = s.account_id
  ), gone as (
    delete from outbox o using applied a
     where a.status in ('sent', 'failed') and o.account_id = a.account_id and o.message_id = a.id
  ), refs as (
    insert into provider_refs (connection_id, provider_id, account_id, message_id)
      select a.connection, a.provider_id, a.account_id, a.id
        from applied a where a.status = 'sent' and a.provider_id is not null
    on conflict (connection_id, provider_id) do update
      set account_id = excluded.account_id, message_id = excluded.message_id
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select a.account_id, a.event, 'message.' || a.status, a.id, p_now
        from applied a join accounts c on c.id = a.account_id
       where c.event_types <> '{}' and 'message.' || a.status = any (c.event_types)
  )
  select array_agg(a.n::integer), array_agg(a.answer) into v_item, v_answer from applied a;
  return query select * from unnest(v_item, v_answer);

  -- Everything below is rare: it costs nothing when no item asks for it.
  if 'queued' = any (p_kind) or 'unknown' = any (p_kind) then
    update outbox o set due_at = i.due, begun = (i.kind = 'unknown'), owner = null,
           secret = case when i.kind = 'unknown' then null else o.secret end
      from unnest(p_account, p_id, p_kind, p_due) with ordinality as i (account_id, id, kind, due, n)
     where i.kind in ('queued', 'unknown') and i.n = any (v_item)
       and o.account_id = i.account_id and o.message_id = i.id and o.begun;
  end if;
  if 'failed' = any (p_kind) then
    update pools p set used = greatest(0, p.used - s.n)
      from (
        select m.account_id, m.pool_id, count(*) as n
          from unnest(p_account, p_id, p_kind) with ordinality as i (account_id, id, kind, n)
          join messages m on m.account_id = i.account_id and m.id = i.id
          join pools q on q.account_id = m.account_id and q.id = m.pool_id
         where i.kind = 'failed' and i.n = any (v_item) and m.funding = 'pool'
           and m.id >= first_uuid_at(q.resets_at - interval '1 month')
         group by m.account_id, m.pool_id order by m.account_id, m.pool_id
      ) s
     where p.account_id = s.account_id and p.id = s.pool_id;
  end if;
  if array_remove(p_forget_key, null) <> '{}' then
    delete from idempotency k
     using unnest(p_account, p_id, p_forget_operation, p_forget_key) as i (account_id, id, operation, key), messages m
     where i.key is not null and m.account_id = i.account_id and m.id = i.id and m.answer = 'failed'
       and k.account_id = i.account_id and k.operation = i.operation and k.key = i.key and k.message_id = i.id;
  end if;
  if exists (select 1 from parked_receipts) then
    -- Those of this batch alone: many may be parked for nobody.
    select array_agg(f.id) into v_parked from (
      select p.id from unnest(p_connection, p_provider_id) as i (connection, provider_id)
        join parked_receipts p on p.connection_id = i.connection and p.provider_id = i.provider_id
         for update of p skip locked) f;
    perform deliver_parked(p_now, v_parked);
  end if;
end $$;

-- Applies delivery receipts, in any order and any number of times: statuses only
-- move forward. A receipt for an id that nobody knows yet is parked.
create function apply_receipts(
  p_now timestamptz, p_connection uuid[], p_provider_id text[], p_status text[], p_at timestamptz[],
  p_provider_code text[], p_detail text[], p_event uuid[]
) returns table (item integer, status text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  insert into parked_receipts (connection_id, provider_id, status, at, provider_code, detail, received_at)
    select i.connection, i.provider_id, i.status, i.at, i.provider_code, i.detail, p_now
      from unnest(p_connection, p_provider_id, p_status, p_at, p_provider_code, p_detail)
        as i (connection, provider_id, status, at, provider_code, detail)
     where not exists (
       select 1 from provider_refs r where r.connection_id = i.connection and r.provider_id = i.provider_id);

  return query
  with matched as (
    select r.account_id, r.message_id, i.status, coalesce(i.at, p_now) as at, i.provider_code, i.detail, i.event, i.n
      from unnest(p_connection, p_provider_id, p_status, p_at, p_provider_code, p_detail, p_event) with ordinality
        as i (connection, provider_id, status, at, provider_code, detail, event, n)
      join provider_refs r on r.connection_id = i.connection and r.provider_id = i.provider_id
  ), applied as (
    update messages m set
      status = i.status,
      money = case when m.money = 'held' then 'captured' else m.money end,
      money_at = case when m.money = 'held' then p_now else m.money_at end,
      sent_at = coalesce(m.sent_at, p_now),
      delivered_at = case when i.status in ('delivered', 'read') then coalesce(m.delivered_at, i.at) else m.delivered_at end,
      read_at = case when i.status = 'read' then i.at else m.read_at end,
      ended_at = case when i.status = 'undelivered' then i.at else m.ended_at end,
      provider_code = coalesce(i.provider_code, m.provider_code),
      error_detail = coalesce(i.detail, m.error_detail)
    from matched i
    where m.account_id = i.account_id and m.id = i.message_id and receipt_moves(m.status, i.status)
    returning m.account_id, m.id, m.status, m.amount, m.funding, m.money, m.money_at, i.event, i.n
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select a.account_id, a.event, 'message.' || a.status, a.id, p_now
        from applied a join accounts c on c.id = a.account_id
       where c.event_types <> '{}' and 'message.' || a.status = any (c.event_types)
  ), settled as (
    -- Only an unknown message still has a row here: the receipt says that it was taken.
    delete from outbox o using applied a
     where o.account_id = a.account_id and o.message_id = a.id and o.begun
    returning o.account_id, o.message_id
  ), wallet as (
    update wallets w set held = w.held - s.amount, captured = w.captured + s.amount
      from (
        select a.account_id, sum(a.amount)::bigint as amount
          from applied a join settled using (account_id)
         where settled.message_id = a.id and a.funding = 'wallet'
         group by a.account_id order by a.account_id
      ) s
     where w.account_id = s.account_id
  )
  select a.n::integer, a.status from applied a;
end $$;

-- Whether a receipt may move a message: forward only, and never one that is still
-- on its way out of here. docs/states.md draws it.
create function receipt_moves(from_status text, to_status text) returns boolean language sql immutable parallel safe as $$
  select case to_status
    when 'sent' then from_status = 'unknown'
    when 'delivered' then from_status in ('sent', 'unknown')
    when 'undelivered' then from_status in ('sent', 'unknown')
    when 'read' then from_status in ('sent', 'unknown', 'delivered')
    else false end
$$;

-- Gives parked receipts to messages whose submit has been answered meanwhile, the
-- oldest first. Returns how many found theirs.
create function apply_parked(p_now timestamptz) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
declare
  v_ids bigint[];
begin
  select array_agg(f.id) into v_ids from (
    select p.id from parked_receipts p
      join provider_refs r on r.connection_id = p.connection_id and r.provider_id = p.provider_id
     order by p.id limit 1000 for update of p skip locked) f;
  perform deliver_parked(p_now, v_ids);
  return coalesce(cardinality(v_ids), 0);
end $$;

-- One at a time: several receipts of one message must apply in their order.
create function deliver_parked(p_now timestamptz, p_ids bigint[]) returns void language plpgsql as $$
declare
  r record;
begin
  for r in
    with gone as (delete from parked_receipts where id = any (p_ids) returning *) select * from gone order by id
  loop
    perform apply_receipts(p_now, array[r.connection_id], array[r.provider_id], array[r.status], array[r.at],
      array[r.provider_code], array[r.detail], array[uuid_at(p_now)]);
  end loop;
end $$;

-- A UUIDv7 of a given time, for rows that the database makes by itself.
create function uuid_at(at timestamptz) returns uuid language sql volatile as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' ||
    substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- Takes rows that are due and that nobody holds: scheduled, retried, left by a dead
-- node. Each connection gives at most its own limit, so that a resting one never
-- stands before the others. What is begun stays: it may have left already.
create function claim_due(p_node bigint, p_now timestamptz, p_connection uuid[], p_limit integer[])
returns table (
  account_id uuid, id uuid, attempt smallint, channel text, message_type text, recipient text,
  connection_id uuid, sender text, content json, secret bytea)
language sql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
  with taken as (
    update outbox o set owner = p_node
      from (
        select d.account_id, d.message_id
          from unnest(p_connection, p_limit) as c (connection_id, n),
               lateral (
                 select q.account_id, q.message_id from outbox q
                  where q.connection_id = c.connection_id and q.due_at <= p_now and q.owner is null and not q.begun
                  order by q.due_at limit c.n for update skip locked
               ) d
      ) due
     where o.account_id = due.account_id and o.message_id = due.message_id
    returning o.account_id, o.message_id, o.connection_id, o.secret
  )
  select m.account_id, m.id, m.attempt, m.channel, m.message_type, m.recipient,
         t.connection_id, m.sender, m.content, t.secret
    from taken t join messages m on m.account_id = t.account_id and m.id = t.message_id
$$;

-- Gives back what a node holds and has not begun.
create function give_back(p_node bigint, p_account uuid[], p_id uuid[]) returns void
language sql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
  update outbox o set owner = null from unnest(p_account, p_id) as i (account_id, id)
   where o.account_id = i.account_id and o.message_id = i.id and o.owner = p_node and not o.begun
$$;

-- What nodes that no longer live have left: unbegun rows are free again, begun
-- attempts become unknown. Returns how many of each.
create function reclaim_from_dead(p_now timestamptz, p_deadline timestamptz)
returns table (freed integer, unknown integer)
language plpgsql as $$
#variable_conflict use_column
begin
  -- What somebody works on at this moment is passed over: it comes to its end there,
  -- or is found the next time. So this waits for nobody, in whatever order it goes.
  with dead as (
    select o.account_id, o.message_id, o.begun
      from outbox o, lateral (
        select 1 from messages m where m.account_id = o.account_id and m.id = o.message_id for update skip locked) free
     where o.owner is not null and not exists (select 1 from nodes n where n.id = o.owner)
       for update of o skip locked
  ), free as (
    update outbox o set owner = null from dead
     where not dead.begun and o.account_id = dead.account_id and o.message_id = dead.message_id
    returning 1
  ), lost as (
    update outbox o set owner = null, due_at = p_deadline, secret = null from dead
     where dead.begun and o.account_id = dead.account_id and o.message_id = dead.message_id
    returning o.account_id, o.message_id
  ), marked as (
    update messages m set status = 'unknown', unknown_at = p_now, settled_at = p_now,
           error_detail = 'the process ended while the provider was being asked'
      from lost where m.account_id = lost.account_id and m.id = lost.message_id and m.status = 'sending'
    returning m.account_id, m.id
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select k.account_id, uuid_at(p_now), 'message.unknown', k.id, p_now
        from marked k join accounts c on c.id = k.account_id
       where 'message.unknown' = any (c.event_types)
  ) select (select count(*) from free), (select count(*) from marked) into freed, unknown;
  return next;
end $$;

-- Unknown messages whose deadline is over count as sent: their money is captured.
create function close_unknown(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_closed integer;
begin
  with due as (
    select o.account_id, o.message_id
      from outbox o join messages m on m.account_id = o.account_id and m.id = o.message_id
     where o.owner is null and o.due_at <= p_now and o.begun
     order by o.due_at limit p_limit for update of o, m skip locked
  ), gone as (
    delete from outbox o using due where o.account_id = due.account_id and o.message_id = due.message_id
  ), applied as (
    update messages m set status = 'sent', sent_at = p_now,
           money = case when m.money = 'held' then 'captured' else m.money end,
           money_at = case when m.money = 'held' then p_now else m.money_at end,
           error_detail = 'no answer within the deadline: counted as sent'
      from due where m.account_id = due.account_id and m.id = due.message_id and m.status = 'unknown'
    returning m.account_id, m.id, m.amount, m.funding
  ), wallet as (
    update wallets w set held = w.held - s.amount, captured = w.captured + s.amount
      from (select a.account_id, sum(a.amount)::bigint as amount from applied a where a.funding = 'wallet'
             group by a.account_id order by a.account_id) s
     where w.account_id = s.account_id
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select a.account_id, uuid_at(p_now), 'message.sent', a.id, p_now
        from applied a join accounts c on c.id = a.account_id
       where 'message.sent' = any (c.event_types)
  )
  select count(*) into v_closed from applied;
  return v_closed;
end $$;

-- Ends messages that have not left, as p_end: cancelled by the sender, taken back
-- because the sender was never told that they were accepted, or failed for want of
-- a connection. Money goes back where it came from. Returns the ids that were ended.
create function withdraw_messages(
  p_now timestamptz, p_account uuid[], p_id uuid[], p_statuses text[], p_begun_too boolean,
  p_end text, p_error_code text, p_error_detail text)
returns table (account_id uuid, id uuid)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_account uuid[];
  v_id uuid[];
begin
  with gone as (
    delete from outbox o using unnest(p_account, p_id) as i (account_id, id), messages m
     where o.account_id = i.account_id and o.message_id = i.id and (p_begun_too or not o.begun)
       and m.account_id = i.account_id and m.id = i.id and m.status = any (p_statuses)
    returning o.account_id, o.message_id
  ), ended as (
    update messages m set status = p_end, ended_at = p_now, error_code = p_error_code, error_detail = p_error_detail,
           money = case when m.money = 'held' then 'released' else m.money end,
           money_at = case when m.money = 'held' then p_now else m.money_at end
      from gone where m.account_id = gone.account_id and m.id = gone.message_id
    returning m.account_id, m.id, m.amount, m.funding
  ), wallet as (
    update wallets w set held = w.held - s.amount, balance = w.balance + s.amount
      from (select e.account_id, sum(e.amount)::bigint as amount from ended e where e.funding = 'wallet'
             group by e.account_id order by e.account_id) s
     where w.account_id = s.account_id
  ), told as (
    insert into events (account_id, id, type, message_id, at)
      select e.account_id, uuid_at(p_now), 'message.' || p_end, e.id, p_now
        from ended e join accounts c on c.id = e.account_id
       where 'message.' || p_end = any (c.event_types)
  )
  select array_agg(e.account_id), array_agg(e.id) into v_account, v_id from ended e;

  -- After the wallets, as everywhere.
  update pools p set used = greatest(0, p.used - s.n)
    from (select m.account_id, m.pool_id, count(*) as n
            from unnest(v_account, v_id) as i (account_id, id)
            join messages m on m.account_id = i.account_id and m.id = i.id
            join pools q on q.account_id = m.account_id and q.id = m.pool_id
           where m.funding = 'pool' and m.id >= first_uuid_at(q.resets_at - interval '1 month')
           group by m.account_id, m.pool_id order by m.account_id, m.pool_id) s
   where p.account_id = s.account_id and p.id = s.pool_id;
  return query select * from unnest(v_account, v_id);
end $$;
