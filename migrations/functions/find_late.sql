drop function if exists find_late;

-- Which codes are beyond what their recipients may have: of each item that names one in
-- `p_person` the codes that were sent to it within the window, resends included. The caller
-- has the accounts' wallets locked, so that nobody else adds to them. Returns a row for
-- each item for which there was no turn:
--   late     whether it is refused, since its limit is strict
--   free_at  when there is a turn again
create function find_late(
  p_account uuid[], p_person text[], p_at timestamptz[], p_sends smallint[], p_window_minutes smallint[], p_strict boolean[]
) returns table (item integer, late boolean, free_at timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
declare
  -- Months are ranges of ids. A verification may be a day old when its last code is sent.
  c_oldest constant interval := interval '1 day';
  v_from uuid;
  v_until uuid;
begin
  select first_uuid_at(min(p_at[n] - p_window_minutes[n] * interval '1 minute') - c_oldest), first_uuid_at(max(p_at[n]) + c_oldest)
    into v_from, v_until
    from unnest(p_person) with ordinality as i (person, n) where i.person is not null;
  -- By the recipient, whatever the statistics say: equality would let the account's own index be taken, for all of it.
  return query
    select i.n::integer, p_strict[i.n], c.first_at + p_window_minutes[i.n] * interval '1 minute'
      from unnest(p_person) with ordinality as i (person, n)
     cross join lateral (
       select count(*) as sends, min(t.at) as first_at from (
         select a.at from (
           (select x.codes_at, x.started_at from verifications x
             where x.recipient_key = i.person and x.account_id is not distinct from p_account[i.n] and x.live and x.status <> 'failed'
               and x.id between v_from and v_until
             order by x.accept_no desc limit p_sends[i.n])
           union all
           (select x.codes_at, x.started_at from verifications x
             where strpos(i.person, '@') > 0
               and x.mailbox = i.person and x.account_id is not distinct from p_account[i.n] and x.live and x.status <> 'failed'
               and x.id between v_from and v_until
             order by x.accept_no desc limit p_sends[i.n])) v
         cross join lateral unnest(coalesce(v.codes_at, array[v.started_at])) as a (at)
         where a.at > p_at[i.n] - p_window_minutes[i.n] * interval '1 minute'
         order by a.at desc limit p_sends[i.n]) t) c
     where i.person is not null and c.sends >= p_sends[i.n];
end $$;
