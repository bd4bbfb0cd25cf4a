drop function if exists in_pool_month;

-- Whether a message is counted in the month of its pool that ends at p_resets_at: what
-- an earlier month counted is not given back to this one. p_until says which one did. What was
-- accepted before that was noted goes by when it was accepted, or when a failover took it to the
-- channel that it has: then the hold before ended at that moment. Months are those of UTC, whatever
-- the session's time zone.
create function in_pool_month(p_id uuid, p_past_holds jsonb, p_resets_at timestamptz, p_until timestamptz default null)
returns boolean
language sql stable parallel safe as $$
  select case when p_until is not null then p_until = p_resets_at
      when p_past_holds is null
      then p_id >= first_uuid_at((p_resets_at at time zone 'UTC' - interval '1 month') at time zone 'UTC')
      else (p_past_holds -> -1 ->> 'until')::timestamptz
           >= (p_resets_at at time zone 'UTC' - interval '1 month') at time zone 'UTC' end
$$;
