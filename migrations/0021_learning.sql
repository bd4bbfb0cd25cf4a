-- How codes fare: what is kept of it so that totals stay right, and so that the order of
-- channels can be learned.

-- A code is kept as one hash, of its keyed mark and of its attempt's id: what a check names
-- leads to the attempt, and needs no hash of its own. Codes of before do not open by it.
alter table verifications drop column recipient_hash;

-- What of a verification is in the totals: [channel, started, sent, delivered, verified, cost]
-- of each of its channels. Null: nothing yet.
alter table verifications add column counted jsonb;

-- Verifications whose part in the totals may still change, as many in a row as were
-- accepted together, and when to look at them again. A work list of all nodes: a row for
-- each of them, in a table of its own, took as long as the verification itself.
create table verification_looks (
  -- Of the first of them.
  id uuid primary key,
  accounts uuid[] not null,
  ids uuid[] not null,
  started_at timestamptz not null,
  look_at timestamptz not null,
  -- Whether channel_learning has them.
  learned boolean not null default false
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create index verification_looks_due on verification_looks (look_at);

-- What was counted before is counted still; what was open is looked at once more.
update verifications v set counted = (
  select jsonb_agg(jsonb_build_array(c->'channel', c->'started', c->'sent', c->'delivered', c->'verified', c->'cost')
                   order by c->>'channel')
    from jsonb_array_elements(u.counted) c)
  from verification_uncounted u
 where u.account_id = v.account_id and u.id = v.id;
update verifications v set counted = (
  select jsonb_agg(jsonb_build_array(c.channel, case when c.whole then sign(c.sent) else 0 end, c.sent, c.delivered,
                     case when c.whole and v.status = 'verified' then 1 else 0 end, c.cost) order by c.channel)
    from (select m.channel, bool_or(m.id = v.message_id) as whole,
                 count(*) filter (where m.status in ('sent', 'delivered', 'read', 'undelivered')) as sent,
                 count(*) filter (where m.status in ('delivered', 'read')) as delivered,
                 coalesce(sum(m.amount) filter (where m.money = 'captured'), 0)::bigint as cost
            from messages m where m.account_id = v.account_id and m.id = any (v.messages) group by m.channel) c)
 where not exists (select 1 from verification_uncounted u where u.account_id = v.account_id and u.id = v.id);
insert into verification_looks (id, accounts, ids, started_at, look_at, learned)
  select u.id, array[u.account_id], array[u.id], v.started_at, u.look_at, true
    from verification_uncounted u join verifications v on v.account_id = u.account_id and v.id = u.id;
drop function if exists take_uncounted;
drop table verification_uncounted;

-- Whether anybody listens at all is one look into an empty index, mostly.
create index accounts_heard on accounts (id) where event_types <> '{}';

-- What an attempt superseded, the latest first: who of them counts when it, and perhaps the
-- next one too, is refused by every channel.
alter table verification_heads add column previous uuid[] not null default '{}';
update verification_heads set previous = array[previous_id] where previous_id is not null;
alter table verification_heads drop column previous_id;

-- How first codes fared, by account, and over all accounts under the platform's id, by
-- country and channel. All of it stands as of `at` and fades by half in a week.
create table channel_learning (
  account_id uuid not null,
  country text not null,
  channel text not null,
  at timestamptz not null,
  tried double precision not null,
  -- Of these: confirmed by that very code; delivered, by a receipt, after so many seconds in sum.
  verified double precision not null,
  delivered double precision not null,
  delivery_seconds double precision not null,
  primary key (account_id, country, channel)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
