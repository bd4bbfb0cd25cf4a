drop function if exists next_reset;

-- The end of the month that contains `at`: the beginning of the next month, UTC.
create function next_reset(at timestamptz) returns timestamptz language sql immutable as $$
  select (date_trunc('month', at at time zone 'UTC') + interval '1 month') at time zone 'UTC'
$$;
