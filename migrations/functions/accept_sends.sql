drop function if exists accept_sends;

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
