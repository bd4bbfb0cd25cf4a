drop function if exists in_pool_month;

-- Whether a message was counted in the month of its pool that ends at p_resets_at: usage of
-- an earlier month is not returned to this one. p_until is the end of the month that counted it: one after p_resets_at was begun
-- by a clock that was far ahead, and the pool is back in this month with what it counted (endFutureMonths). Messages
-- from before that was stored have a null there: for them the time of the accept decides, or of the last failover to
-- another channel, when their last past hold ended. Months are in UTC, whatever
-- the session's time zone.
create function in_pool_month(p_id uuid, p_past_holds jsonb, p_resets_at timestamptz, p_until timestamptz default null)
returns boolean
language sql stable parallel safe as $$
  select case when p_until is not null then p_until >= p_resets_at
      when p_past_holds is null
      then p_id >= first_uuid_at((p_resets_at at time zone 'UTC' - interval '1 month') at time zone 'UTC')
      else (p_past_holds -> -1 ->> 'until')::timestamptz
           >= (p_resets_at at time zone 'UTC' - interval '1 month') at time zone 'UTC' end
$$;
