drop function if exists uuid_at;

-- A UUIDv7 of a given time, for ids that the database makes.
create function uuid_at(at timestamptz) returns uuid language sql volatile as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' ||
    substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;
