drop function if exists check_codes;

-- Checks codes, each by the id of its verification, by its recipient, or by both. One
-- conditional update per item decides under the row's lock: the right code verifies, once;
-- a wrong code uses one of five tries. Returns a row for each item:
--   'right', 'wrong'  counted; a repeated call (its answer was lost) gets the same by p_check, also if another
--                call has counted meanwhile
--   'used', 'expired', 'exhausted'
--   'missing'    unknown, of the other key mode, superseded, or never sent
--   'disagrees'  the verification has another recipient than the given one
--   'later'      another item of this call is about the same verification, or the one that counted for
--                the recipient has just ended unsent: check it again
-- Compares hashes of the digests of codes, so that the time of a comparison reveals
-- nothing about the digits: an attacker cannot know the hash of a guess.
create function check_codes(
  p_now timestamptz, p_account uuid[], p_live boolean[], p_id uuid[], p_recipient_key text[], p_code_digest bytea[], p_check uuid[]
) returns table (
  item integer, verdict text, verification_id uuid, tries smallint, expires_at timestamptz, verified_at timestamptz,
  recipient text, country text
)
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
  v_id uuid[] := p_id;
  v_counted integer;
  v_superseded uuid[];
  v_exhausted_account uuid[];
  v_exhausted uuid[];
  v_right_account uuid[];
  v_right uuid[];
  -- Partitions are ranges of ids: without bounds each call would open all of them.
  v_low uuid;
  v_high uuid;
  v_since uuid;
  -- No verification that was accepted by now has a later id, with the clock of any node.
  v_until constant uuid := first_uuid_at(p_now + interval '1 day');
  r record;
begin
  -- By recipient: the verification that counts now, which is nearly always a recent one. `is not distinct from`
  -- keeps the plan from using the index by account, which looks as good as that by recipient while the table is empty.
  foreach v_since in array array[first_uuid_at(p_now - interval '1 day'), '00000000-0000-0000-0000-000000000000'] loop
    exit when array_position(v_id, null) is null;
    for r in
      select i.n::integer as n, v.id from unnest(v_id) with ordinality as i (id, n)
       cross join lateral (
         select x.id from verifications x
          where x.account_id is not distinct from p_account[i.n] and x.live = p_live[i.n] and x.recipient_key = p_recipient_key[i.n]
            and x.status <> 'failed' and in_months(x.id, v_since, v_until)
          order by x.accept_no desc limit 1) v
       where i.id is null
    loop
      v_id[r.n] := r.id;
    end loop;
  end loop;
  select ids[1], ids[cardinality(ids)] into v_low, v_high
    from (select array_agg(i order by i) as ids from unnest(v_id) as i where i is not null) as sorted;
  -- No verification that supersedes one of them has an earlier id than this, with the clock of any node.
  v_since := first_uuid_at(greatest('epoch',
    to_timestamp(('x' || left(replace(v_low::text, '-', ''), 12))::bit(48)::bigint / 1000.0) - interval '1 day'));

  with asked as (
    -- In the order of ids, so that nodes cannot deadlock.
    select distinct on (i.account_id, i.id) i.account_id, i.id, i.n
      from unnest(p_account, v_id) with ordinality as i (account_id, id, n)
     where i.id is not null
     order by i.account_id, i.id, i.n
  ), counted as (
    update verifications v set checks = v.checks || p_check[a.n], (tries, status, verified_at) = (
        select case when r.is_right then v.tries else v.tries + 1 end,
               case when r.is_right then 'verified' when v.tries >= 4 then 'exhausted' else 'pending' end,
               case when r.is_right then p_now end
          from (select sha256(p_code_digest[a.n] || uuid_send(v.id)) = v.code_hash as is_right) r)
      from asked a
     where v.account_id = any (array[a.account_id]) and v.id = any (v_id[a.n:a.n]) and in_months(v.id, v_low, v_high) and v.live = p_live[a.n]
       and v.status = 'pending' and v.expires_at > p_now and (p_check[a.n] = any (v.checks)) is not true
       and (p_recipient_key[a.n] is null or v.recipient_key = p_recipient_key[a.n])
       -- By recipient it counted when it was looked up: the check comes before a start that was accepted since.
       and (p_id[a.n] is null or not exists (
             select 1 from verifications x
              where x.account_id is not distinct from v.account_id and x.live = v.live and x.recipient_key = v.recipient_key
                and x.accept_no > v.accept_no and x.status <> 'failed' and in_months(x.id, v_since, v_until)))
    returning v.account_id, v.id, v.status
  )
  select count(*), array_agg(c.account_id) filter (where c.status = 'verified'), array_agg(c.id) filter (where c.status = 'verified'),
         array_agg(c.account_id) filter (where c.status = 'exhausted'), array_agg(c.id) filter (where c.status = 'exhausted')
    into v_counted, v_right_account, v_right, v_exhausted_account, v_exhausted
    from counted c;

  if v_right is not null then
    perform tell_verifications(p_now, 'verification.verified', v_right_account, v_right, null);
  end if;
  if v_exhausted is not null then
    perform tell_verifications(p_now, 'verification.failed', v_exhausted_account, v_exhausted, 'attempts_exhausted');
  end if;

  -- Finds out why the others were not counted: first, which are superseded.
  if v_counted < cardinality(v_id) then
    select array_agg(v.id) into v_superseded
      from unnest(p_account, v_id) as i (account_id, id)
      join verifications v on v.account_id = any (array[i.account_id]) and v.id = i.id and in_months(v.id, v_low, v_high)
     where exists (select 1 from verifications x
                    where x.account_id is not distinct from v.account_id and x.live = v.live and x.recipient_key = v.recipient_key
                      and x.accept_no > v.accept_no and x.status <> 'failed' and in_months(x.id, v_since, v_until));
  end if;

  return query
    select i.n::integer,
           case
             when v.id is null or v.live <> p_live[i.n] then 'missing'
             when p_recipient_key[i.n] is not null and v.recipient_key <> p_recipient_key[i.n] then 'disagrees'
             when p_check[i.n] = any (v.checks) then
               case when v.status = 'verified' and v.checks[cardinality(v.checks)] = p_check[i.n] then 'right' else 'wrong' end
             when v.status = 'verified' then 'used'
             when p_id[i.n] is not null and (v.status = 'failed' or v.id = any (v_superseded)) then 'missing'
             when v.expires_at <= p_now then 'expired'
             when v.status = 'exhausted' then 'exhausted'
             else 'later'
           end,
           v.id, v.tries, v.expires_at, v.verified_at, v.recipient, v.country
      from unnest(v_id) with ordinality as i (id, n)
      left join verifications v on v.account_id = any (array[p_account[i.n]]) and v.id = i.id and in_months(v.id, v_low, v_high);
end $$;
