drop function if exists in_months;

-- Whether an id is between p_low and p_high, so that of a partitioned table only the partitions of that
-- range are opened. The `or` is redundant: it keeps the range from being used as an index condition. While a table is
-- empty, one scan of the range looks as good as a look-up of each id, and such a plan stays in use for a
-- while; each batch would then read all rows between its oldest and its newest.
create function in_months(id uuid, p_low uuid, p_high uuid) returns boolean language sql immutable parallel safe as $$
  select id between p_low and p_high or id = p_low
$$;
