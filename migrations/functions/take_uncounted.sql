drop function if exists take_uncounted;

-- Verifications whose part in the totals may have changed, with what they and their
-- messages say now, held until the transaction ends: those that are due, passing over
-- what another node holds, or the newest of one account, due or not. `verification` is
-- null where it is gone.
create function take_uncounted(p_now timestamptz, p_account uuid, p_limit integer)
returns table (account_id uuid, id uuid, counted jsonb, verification json)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_account uuid[];
  v_id uuid[];
begin
  if p_account is null then
    select array_agg(u.account_id), array_agg(u.id) into v_account, v_id from (
      select d.account_id, d.id from verification_uncounted d where d.look_at <= p_now
       order by d.look_at limit p_limit for update skip locked) u;
  else
    select array_agg(u.account_id), array_agg(u.id) into v_account, v_id from (
      select d.account_id, d.id from verification_uncounted d where d.account_id = p_account
       order by d.id desc limit p_limit for update) u;
  end if;

  return query
    select u.account_id, u.id, u.counted, case when v.id is not null then json_build_object(
             'live', v.live, 'status', v.status, 'channel', v.channel, 'country', v.country,
             'startedAtMs', floor(extract(epoch from v.started_at) * 1000)::bigint,
             'messages', (select coalesce(json_agg(json_build_object('channel', m.channel, 'status', m.status,
                            'cost', case when m.money = 'captured' then m.amount else 0 end)), '[]')
                            from unnest(v.messages) as c (id), lateral (
                              select * from messages x where x.account_id = v.account_id and x.id = c.id limit 1) m)) end
      -- Each by its whole key: without statistics the planner thinks the account alone is as good.
      from unnest(v_id) with ordinality as i (id, n)
     cross join lateral (
       select * from verification_uncounted x where x.account_id = v_account[i.n] and x.id = i.id limit 1) u
      left join lateral (select * from verifications x where x.account_id = u.account_id and x.id = u.id limit 1) v on true;
end $$;
