drop function if exists in_months;

-- Whether an id is among those from p_low to p_high, so that of a partitioned table only the months of that
-- range are opened. It is said twice: a plain range is a condition for an index too, and on an empty table
-- one scan of the range looks as good as a look for each id. Plans of the empty table are in use for a
-- while; then each batch would read all that lies between its oldest and its youngest.
create function in_months(id uuid, p_low uuid, p_high uuid) returns boolean language sql immutable parallel safe as $$
  select id between p_low and p_high or id = p_low
$$;
