drop function if exists learn_channels;

-- Learns from the first codes of these verifications, by account, country and channel,
-- and for all accounts together under the platform's id: whether they were verified without a
-- resend, and whether and how soon they were delivered. Codes that were sent over several channels at once, or
-- over none, are ignored. Accounts without any verified code do not count for
-- the platform: they may check their codes elsewhere.
create function learn_channels(
  p_now timestamptz, p_half_life_hours double precision, p_account uuid[], p_id uuid[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
begin
  insert into channel_learning as l
    (account_id, country, channel, at, tried, verified, delivered, delivery_seconds)
  select a.account_id, c.country, c.channel, p_now, count(*), count(*) filter (where c.verified),
         count(c.seconds), coalesce(sum(c.seconds), 0)
    from (select v.account_id, v.country, m.channel, v.status = 'verified' and v.resends = 0 as verified,
                 least(greatest(extract(epoch from m.delivered_at - v.started_at), 0), 600)::double precision as seconds
            from unnest(p_account, p_id) as i (account_id, id)
           cross join lateral (
             select * from verifications x where x.account_id = i.account_id and x.id = i.id limit 1) v
            -- The first message has the verification's id.
           cross join lateral (select * from messages x where x.account_id = i.account_id and x.id = i.id limit 1) m
           where v.live and v.country is not null and v.started_with = 1 and v.status <> 'failed'
             and m.status not in ('failed', 'cancelled', 'expired')) c
   cross join lateral (
     select c.account_id
     union all
     select '00000000-0000-0000-0000-000000000000'::uuid
      where exists (select 1 from channel_learning x where x.account_id = c.account_id and x.verified > 0)) a
   group by a.account_id, c.country, c.channel
   order by a.account_id, c.country, c.channel
  on conflict (account_id, country, channel) do update set
    at = greatest(l.at, excluded.at),
    tried = l.tried * power(0.5, greatest(0, extract(epoch from excluded.at - l.at)) / 3600 / p_half_life_hours)
            + excluded.tried,
    verified = l.verified * power(0.5, greatest(0, extract(epoch from excluded.at - l.at)) / 3600 / p_half_life_hours)
            + excluded.verified,
    delivered = l.delivered * power(0.5, greatest(0, extract(epoch from excluded.at - l.at)) / 3600 / p_half_life_hours)
            + excluded.delivered,
    delivery_seconds = excluded.delivery_seconds + l.delivery_seconds
            * power(0.5, greatest(0, extract(epoch from excluded.at - l.at)) / 3600 / p_half_life_hours);
end $$;
