drop function if exists count_verifications;

-- Adds to the totals how these verifications and their messages differ from what was
-- counted before. Codes count on the channel of their last attempt, the verification
-- itself on the channel that carries its current code (carrier_of), or the code before it if nothing of that was sent; what a
-- pool pays costs nothing.
-- Each difference is added once, even if nodes count concurrently: `counted`
-- is updated only if it still has the value that was read. Returns the indexes of verifications
-- that may still change, or that another node counted concurrently.
--
-- Order of locks: verifications, then totals, each in the order of their keys.
create function count_verifications(p_now timestamptz, p_account uuid[], p_id uuid[]) returns integer[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
declare
  v_open integer[];
begin
  with looked as (
    select i.n::integer as n, v.account_id, v.id, v.live, (v.started_at at time zone 'UTC')::date as day,
           coalesce(v.country, '') as country, v.counted as before, c.counts,
           -- Open until it can neither be verified nor resent (endOf in core/verification/rules.ts).
           not c.ended or (v.status = 'pending'
               and greatest(v.expires_at, v.resend_at) + make_interval(mins => v.validity_minutes) > p_now) as open
      from unnest(p_id) with ordinality as i (id, n)
      -- `limit 1` forces look-ups by the whole key: without statistics, the account alone looks as good to the planner.
     cross join lateral (select x.*, array_position(x.messages, x.message_id) as current_from
                           from verifications x where x.account_id = p_account[i.n] and x.id = i.id limit 1) v
     cross join lateral (
       select bool_and(m.ended) as ended,
              jsonb_agg(jsonb_build_array(m.channel,
                  case when m.whole and (m.anywhere > 0 or v.status = 'verified') then 1 else 0 end, m.sent, m.delivered,
                  case when m.whole and v.status = 'verified' then 1 else 0 end, m.cost) order by m.channel) as counts
         from (select s.*, sum(s.sent) over () as anywhere, s.place = min(s.place) over () as whole
                 from (select m.channel,
                              -- First the messages of the current code, then the latest of the codes before it; last those
                              -- of the current code that were not sent.
                              min(case when m.status in ('failed', 'cancelled', 'expired') then
                                      case when k.n >= v.current_from then k.n + 2 * cardinality(v.messages) end
                                    when k.n >= v.current_from then k.n
                                    else 2 * cardinality(v.messages) - k.n end) as place,
                              count(*) filter (where m.status in ('sent', 'delivered', 'read', 'undelivered')) as sent,
                              count(*) filter (where m.status in ('delivered', 'read')) as delivered,
                              coalesce(sum(m.amount) filter (where m.money = 'captured' and m.funding = 'wallet'), 0)::bigint
                                as cost,
                              bool_and(m.status in ('delivered', 'read', 'undelivered', 'failed', 'cancelled', 'expired'))
                                as ended
                         from unnest(v.messages) with ordinality as k (id, n), lateral (
                              select * from messages x where x.account_id = v.account_id and x.id = k.id limit 1) m
                        group by m.channel) s) m) c
  ), changed as (
    update verifications v set counted = l.counts
      from (select * from looked where counts is not null and counts is distinct from before order by account_id, id) l
     where v.account_id = any (array[l.account_id]) and v.id = l.id and v.counted is not distinct from l.before
    returning l.n, l.account_id, l.live, l.day, l.country, l.before, l.counts
  ), added as (
    insert into verification_totals as t
      (account_id, live, day, channel, country, started, sent, delivered, verified, cost)
    select c.account_id, c.live, c.day, s.of->>0, c.country, sum(s.sign * (s.of->>1)::bigint),
           sum(s.sign * (s.of->>2)::bigint), sum(s.sign * (s.of->>3)::bigint), sum(s.sign * (s.of->>4)::bigint),
           sum(s.sign * (s.of->>5)::bigint)
      from changed c cross join lateral (
             select 1 as sign, e as of from jsonb_array_elements(c.counts) e
             union all select -1, e from jsonb_array_elements(c.before) e) s
     group by c.account_id, c.live, c.day, s.of->>0, c.country
    having sum(s.sign * (s.of->>1)::bigint) <> 0 or sum(s.sign * (s.of->>2)::bigint) <> 0
        or sum(s.sign * (s.of->>3)::bigint) <> 0 or sum(s.sign * (s.of->>4)::bigint) <> 0
        or sum(s.sign * (s.of->>5)::bigint) <> 0
     order by c.account_id, c.live, c.day, s.of->>0, c.country
    on conflict (account_id, live, day, channel, country) do update set
      started = t.started + excluded.started, sent = t.sent + excluded.sent, delivered = t.delivered + excluded.delivered,
      verified = t.verified + excluded.verified, cost = t.cost + excluded.cost
  )
  -- A node that counted one concurrently may have read it before it ended.
  select array_agg(l.n) filter (where l.open is not false
      or (l.counts is distinct from l.before and not exists (select 1 from changed c where c.n = l.n)))
    into v_open from looked l;
  return coalesce(v_open, '{}');
end $$;
