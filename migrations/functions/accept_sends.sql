drop function if exists accept_sends;

-- Accepts sends: claims idempotency keys, holds money, stores messages and outbox
-- rows. Returns a row for each item that was not simply accepted:
--   'exists'        the idempotency key is taken; with the stored key in the other columns
--   'again'         this message was accepted before (a repeated call, p_repeated), with the same p_taken_up
--   'insufficient'  neither pool nor wallet covers it
-- Items with a false `p_take` are skipped. `p_bulk_row`: the numbers of their rows, for rows of bulk jobs.
-- `p_taken_up`: when their batch was taken up, for messages of a repeated batch.
create function accept_sends(
  p_node bigint, p_now timestamptz, p_operation smallint, p_repeated boolean,
  p_account uuid[], p_id uuid[], p_key text[], p_hash bytea[],
  p_live boolean[], p_status text[], p_channel text[], p_type text[], p_recipient text[], p_country text[],
  p_provider text[], p_connection uuid[], p_sender text[], p_source text[], p_candidates text[],
  p_content json[], p_metadata json[], p_template uuid[], p_job uuid[],
  p_amount bigint[], p_parts smallint[], p_pooled boolean[],
  p_due timestamptz[], p_scheduled timestamptz[], p_owned boolean[], p_begun boolean[], p_secret bytea[], p_answer text[],
  p_take boolean[] default null, p_bulk_row integer[] default null,
  p_taken_up timestamptz[] default null
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
  v_take boolean[] := coalesce(p_take, array_fill(true, array[cardinality(p_id)]));
  v_funding text[] := array_fill('wallet'::text, array[cardinality(p_id)]);
  v_pool smallint[] := array_fill(null::smallint, array[cardinality(p_id)]);
  v_pool_until timestamptz[] := array_fill(null::timestamptz, array[cardinality(p_id)]);
  v_hard uuid[];
  v_locked boolean;
  r record;
begin
  if p_repeated then
    for r in
      select i.n::integer as n from unnest(p_account, p_id) with ordinality as i (account_id, id, n)
       cross join lateral (select 1 from messages x where x.account_id = i.account_id and x.id = i.id limit 1) m
       -- A repeat of a batch may find what an earlier request has accepted: storing it fails then, as in a first call.
       where p_taken_up[i.n] is null or exists (
         select 1 from outbox o
          where o.account_id = any (array[i.account_id]) and o.message_id = i.id and o.taken_up_at = p_taken_up[i.n])
    loop
      v_take[r.n] := false;
      item := r.n; verdict := 'again';
      return next;
    end loop;
  end if;

  -- Keys. Nearly always all are new, and a plain insert costs a third less than
  -- `on conflict`; only if it fails, the keys that are taken are looked for. They are sorted, since another node
  -- may claim the same ones.
  begin
    insert into idempotency (account_id, operation, key, body_hash, message_id, created_at)
      select p_account[n], p_operation, p_key[n], p_hash[n], i.id, p_now
        from unnest(p_id) with ordinality as i (id, n)
       where p_key[n] is not null and v_take[n]
       order by p_account[n], p_key[n] collate "C", n;
  exception when unique_violation then
    loop
      insert into idempotency (account_id, operation, key, body_hash, message_id, created_at)
        select p_account[n], p_operation, p_key[n], p_hash[n], i.id, p_now
          from unnest(p_id) with ordinality as i (id, n)
         where p_key[n] is not null and v_take[n]
         order by p_account[n], p_key[n] collate "C", n
      on conflict do nothing;
      for r in
        select i.n::integer as n, k.* from unnest(p_account, p_id, p_key) with ordinality as i (account_id, id, key, n)
         -- `offset 0` forces look-ups by key, also with a plan that was made while the table was empty.
         cross join lateral (
           select * from idempotency f where f.account_id = i.account_id and f.operation = p_operation and f.key = i.key offset 0) k
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
      -- A key that was released between the two statements is free now: claim it again.
      exit when not exists (
        select 1 from unnest(p_account, p_id, p_key) with ordinality as i (account_id, id, key, n)
         where i.key is not null and v_take[i.n] and not exists (
           select 1 from idempotency f
            where f.account_id = any (array[i.account_id]) and f.operation = p_operation and f.key = i.key and f.message_id = i.id));
    end loop;
  end;

  -- Money. A wallet that covers all items of its account pays them in one update. Accounts with
  -- items for a pool, or with too little money, are paid item by item after that: then all wallets
  -- are locked first, to keep the order of locks by account.
  v_locked := true = any (p_pooled);
  loop
    begin
      if v_locked then
        -- Test keys pay nothing, and wait for no wallet.
        perform 1 from wallets w
          where w.account_id = any (case when false = any (p_live)
                  then array(select p_account[n] from unnest(p_live) with ordinality as l (live, n) where live) else p_account end)
          order by w.account_id for update;
      end if;
      with need as (
        select i.account_id, sum(p_amount[n])::bigint as amount, bool_or(p_pooled[n]) as pooled
          from unnest(p_account) with ordinality as i (account_id, n)
         where p_live[n] and v_take[n]
         group by i.account_id
         order by i.account_id
      ), paid as (
        update wallets w set balance = w.balance - need.amount, held = w.held + need.amount
          from need
         where w.account_id = any (array[need.account_id]) and not need.pooled and w.balance >= need.amount
        returning w.account_id
      )
      select array_agg(need.account_id order by need.account_id) into v_hard
        from need where not exists (select 1 from paid where paid.account_id = need.account_id);
      exit when v_locked or v_hard is null;
      -- Rolls the payments back, and releases their locks.
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
      v_pool_until[r.item] := r.pool_until;
      if r.funding is null then
        v_take[r.item] := false;
        item := r.item; verdict := 'insufficient';
        key_hash := null; key_message := null; key_status := null; key_body := null; key_created := null;
        return next;
      end if;
    end loop;
    -- The status is enough: the body of the answer follows from it and the message's id.
    -- The operation is a column of the batch: by a parameter alone, the plan may search the whole index for it.
    update idempotency k set status = 402
      from unnest(p_account, p_id, p_key, v_funding, array_fill(p_operation, array[cardinality(p_id)]))
           as i (account_id, id, key, funding, operation)
     where i.funding is null and k.account_id = any (array[i.account_id]) and k.operation = i.operation and k.key = i.key
       and k.message_id = i.id;
  end if;

  insert into messages (
    account_id, id, live, attempt, parts, pool_id, pool_until, status, channel, message_type, recipient, country,
    provider, connection_id, sender, sender_source, candidates, content, metadata, template_id, bulk_job_id,
    amount, funding, money, answer, attempt_at, scheduled_at)
  select p_account[n], i.id, p_live[n], p_begun[n]::integer, p_parts[n], v_pool[n], v_pool_until[n],
         p_status[n], p_channel[n], p_type[n], p_recipient[n], p_country[n],
         p_provider[n], p_connection[n], p_sender[n], p_source[n], p_candidates[n],
         p_content[n], p_metadata[n], p_template[n], p_job[n], p_amount[n],
         case when p_live[n] then v_funding[n] else 'none' end, case when p_live[n] then 'held' else 'none' end,
         p_answer[n], case when p_begun[n] then p_now end, p_scheduled[n]
    from unnest(p_id) with ordinality as i (id, n)
   where v_take[n];

  insert into outbox (account_id, message_id, connection_id, due_at, owner, begun, secret, bulk_row, taken_up_at)
  select p_account[n], i.id, p_connection[n], p_due[n], case when p_owned[n] then p_node end, p_begun[n], p_secret[n], p_bulk_row[n],
         p_taken_up[n]
    from unnest(p_id) with ordinality as i (id, n)
   where v_take[n];

  if exists (select 1 from watched_accounts) then
    perform note_moves(p_now, p_account, p_id);
  end if;
end $$;
