drop function if exists next_reset;

-- The first monthly reset after `at`, on the day of month that `from_reset` has.
create function next_reset(from_reset timestamptz, at timestamptz) returns timestamptz language sql immutable as $$
  select ((from_reset at time zone 'UTC') + make_interval(months =>
    1 + greatest(0, (extract(year from age(at at time zone 'UTC', from_reset at time zone 'UTC')) * 12
      + extract(month from age(at at time zone 'UTC', from_reset at time zone 'UTC')))::integer))) at time zone 'UTC'
$$;
