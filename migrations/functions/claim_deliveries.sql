drop function if exists claim_deliveries;

-- Claims due deliveries for this node, for each target at most p_room. Deliveries with the same
-- order_key are made in their order: one with an earlier pending one is postponed until
-- that one is due, or, if a node holds that one, until its attempt is surely over. The end of
-- a delivery makes the next one due (finish_deliveries). So deliveries that wait for a slow
-- or dead receiver are not looked at in every call, and do not hide
-- the others. Skips rows that are locked; they are left for the next call.
--
-- Rows are found again by target and seq beside their key. While the table is empty,
-- the planner cannot tell which of two indexes that begin with the account is
-- better, and the plan stays in use: with the key alone it read all deliveries of
-- the endpoint for each row (6,000 rows: 59 ms a call instead of 2).
--
-- Locking is a statement of its own, for the reason in the README.
create function claim_deliveries(
  p_node bigint, p_now timestamptz, p_account uuid[], p_target uuid[], p_room integer[])
returns table (
  account_id uuid, id uuid, seq bigint, target_kind text, target_id uuid, event_id uuid, event_type text, attempts smallint,
  event_at timestamptz, data jsonb, url text, secret bytea, previous_secret bytea, previous_until timestamptz,
  message_id uuid, live boolean, channel text, message_type text, recipient text, country text, sender text,
  provider text, metadata json, amount bigint, parts smallint, error_code text, error_detail text, currency text, context json)
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
  s_account uuid[]; s_target uuid[]; s_seq bigint[]; s_id uuid[]; s_room integer[]; s_due timestamptz[]; s_behind bigint[];
  l_account uuid[]; l_target uuid[]; l_seq bigint[]; l_id uuid[]; l_until timestamptz[];
begin
  select array_agg(d.account_id), array_agg(d.target_id), array_agg(d.seq), array_agg(d.id), array_agg(l.room), array_agg(d.due_at),
         array_agg((select e.seq from deliveries e
                     where e.status = 'pending' and e.account_id = d.account_id and e.target_id = d.target_id
                       and e.order_key = d.order_key and e.seq < d.seq
                     order by e.seq limit 1))
    into s_account, s_target, s_seq, s_id, s_room, s_due, s_behind
    from unnest(p_account, p_target, p_room) as l (account_id, target_id, room),
         lateral (
           select q.* from deliveries q
            where q.status = 'pending' and q.owner is null and q.account_id = l.account_id
              and q.target_id = l.target_id and q.due_at <= p_now
            -- More than the room: otherwise deliveries that wait for an earlier one could hide those that need not.
            order by q.due_at, q.seq limit l.room + 100 for update skip locked
         ) d;
  if s_id is null then return; end if;

  -- Locks the earlier delivery, so that it ends before or after this call: otherwise its end could miss the waiting one.
  select array_agg(s.account_id), array_agg(s.target_id), array_agg(s.seq), array_agg(s.id),
         array_agg(case when a.owner is null then a.due_at else p_now + interval '20 seconds' end)
    into l_account, l_target, l_seq, l_id, l_until
    from unnest(s_account, s_target, s_seq, s_id, s_behind) as s (account_id, target_id, seq, id, behind),
         lateral (
           select e.owner, e.due_at, e.status from deliveries e
            where e.account_id = s.account_id and e.target_id = s.target_id and e.seq = s.behind limit 1 for update skip locked
         ) a
   where s.behind is not null and a.status = 'pending';

  return query
  with first as (
    select s.account_id, s.target_id, s.seq, s.id, s.room, row_number() over (partition by s.target_id order by s.due_at, s.seq) as place
      from unnest(s_account, s_target, s_seq, s_id, s_room, s_due, s_behind) as s (account_id, target_id, seq, id, room, due_at, behind)
     where s.behind is null
  ), taken as (
    update deliveries d set owner = p_node, claimed_at = p_now
      from first f
     where f.place <= f.room and d.account_id = any (array[f.account_id]) and d.target_id = f.target_id and d.seq = f.seq and d.id = f.id
    returning d.*
  ), put_off as (
    update deliveries d set due_at = l.until
      from unnest(l_account, l_target, l_seq, l_id, l_until) as l (account_id, target_id, seq, id, until)
     where d.account_id = any (array[l.account_id]) and d.target_id = l.target_id and d.seq = l.seq and d.id = l.id and l.until > d.due_at
  )
  select t.account_id, t.id, t.seq, t.target_kind, t.target_id, t.event_id, t.event_type, t.attempts,
         e.at, e.data, coalesce(w.url, n.webhook_url), coalesce(w.secret, n.webhook_secret),
         w.previous_secret, w.previous_until,
         m.id, m.live, m.channel, m.message_type, m.recipient, m.country,
         -- The sender of the official chat app is its connection.
         case when m.channel = 'official_chatapp' and m.sender is null then official_name(m.account_id, m.connection_id) else m.sender end,
         m.provider, m.metadata, m.amount, m.parts, m.error_code, m.error_detail, c.currency, m.content -> 'context'
    from taken t
    left join events e on e.account_id = any (array[t.account_id]) and e.id = t.event_id
    left join webhook_endpoints w on t.target_kind = 'endpoint' and w.account_id = any (array[t.account_id]) and w.id = t.target_id
    left join sms_senders n on t.target_kind = 'sender' and n.account_id = any (array[t.account_id]) and n.id = t.target_id
    left join messages m on m.account_id = any (array[e.account_id]) and m.id = e.message_id
    left join accounts c on c.id = any (array[t.account_id])
   order by t.seq;
end $$;
