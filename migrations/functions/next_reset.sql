drop function if exists next_reset;

-- When a pool's month that `at` lies in ends: with the first of the next, UTC.
create function next_reset(at timestamptz) returns timestamptz language sql immutable as $$
  select (date_trunc('month', at at time zone 'UTC') + interval '1 month') at time zone 'UTC'
$$;
