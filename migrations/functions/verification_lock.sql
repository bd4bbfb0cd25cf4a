drop function if exists verification_lock;

-- The advisory lock under which an account's verifications are started and resent. It is held in memory, so it costs a
-- start no write.
create function verification_lock(account uuid) returns bigint language sql immutable parallel safe as $$
  select hashtextextended('posthorn_verifications:' || account::text, 0)
$$;
