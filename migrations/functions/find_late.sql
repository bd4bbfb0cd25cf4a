drop function if exists find_late;

-- Finds codes that exceed the limit of their recipient. For each item with a `p_person` it
-- counts the codes that were sent to it within the window, including resends, of verifications
-- with ids between `p_oldest` and `p_newest` (partitions are ranges of ids). The caller holds
-- the accounts' verification_lock, so no codes are added concurrently. Returns a row for each item
-- over its limit:
--   late     whether it is refused; false in monitor mode
--   free_at  when the limit allows a code again
create function find_late(
  p_account uuid[], p_at timestamptz[],
  p_person text[], p_sends smallint[], p_window_minutes smallint[], p_strict boolean[], p_oldest uuid, p_newest uuid
) returns table (item integer, late boolean, free_at timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
declare
  v_known integer[];
begin
  -- Most recipients had no recent code: that takes one look-up in an index.
  v_known := array(
    select i.n::integer from unnest(p_person) with ordinality as i (person, n)
      left join lateral (
        select true as is_known from verifications x where x.recipient_key = i.person and x.id between p_oldest and p_newest limit 1) v
        on true
     where v.is_known or strpos(i.person, '@') > 0);
  if v_known = '{}' then
    return;
  end if;

  -- `is not distinct from` makes the plan use the index by recipient: with `=` it could read all of the account's rows.
  return query
    select i.n, p_strict[i.n], c.first_at + p_window_minutes[i.n] * interval '1 minute'
      from (select p_person[k] as person, k as n from unnest(v_known) as k) i
     cross join lateral (
       select count(*) as sends, min(t.at) as first_at from (
         select a.at from (
           (select x.codes_at, x.started_at from verifications x
             where x.recipient_key = i.person and x.account_id is not distinct from p_account[i.n] and x.live and x.status <> 'failed'
               and x.id between p_oldest and p_newest
             order by x.accept_no desc limit p_sends[i.n])
           union all
           (select x.codes_at, x.started_at from verifications x
             where strpos(i.person, '@') > 0
               and x.mailbox = i.person and x.account_id is not distinct from p_account[i.n] and x.live and x.status <> 'failed'
               and x.id between p_oldest and p_newest
             order by x.accept_no desc limit p_sends[i.n])) v
         cross join lateral unnest(coalesce(v.codes_at, array[v.started_at])) as a (at)
         where a.at > p_at[i.n] - p_window_minutes[i.n] * interval '1 minute'
           -- Later ones are from a clock that was far ahead: the recipient would get no code until that time has come.
           and a.at < p_at[i.n] + interval '10 minutes'
         order by a.at desc limit p_sends[i.n]) t) c
     where c.sends >= p_sends[i.n];
end $$;
