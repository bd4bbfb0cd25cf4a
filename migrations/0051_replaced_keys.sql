-- A key that was rotated has the expiry of its overlap, which no key that replaces it must get.

alter table api_keys add column replaced_at timestamptz;
