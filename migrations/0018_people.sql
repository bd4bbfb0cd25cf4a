-- People who come in by the console, the accounts that they act for, and where they are signed in.

create table users (
  id uuid primary key,
  email text not null,
  -- As it is compared: one login an address, whatever its letters.
  email_key text not null unique,
  name text not null,
  -- Argon2id in the PHC's spelling, parameters and salt included.
  password text not null,
  operator boolean not null default false,
  -- Of the second factor, sealed; the pending one until a code has confirmed it.
  totp_secret bytea,
  totp_pending bytea,
  -- The last 30 seconds of which a code was used: it works once.
  totp_step bigint not null default 0,
  -- Keyed hashes of those that are left.
  recovery_codes bytea[] not null default '{}'
);

create table memberships (
  account_id uuid not null,
  user_id uuid not null,
  role text not null check (role in ('owner', 'member')),
  permissions text[] not null,
  joined_at timestamptz not null,
  primary key (account_id, user_id)
);
create index memberships_user on memberships (user_id);

-- Links that let somebody in, once: to an account, as an operator, or back into a login of
-- which the password is lost. The platform's own account owns those that are for no account.
create table invitations (
  account_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('invitation', 'reset')),
  email text not null,
  email_key text not null,
  role text check (role in ('owner', 'member', 'operator')),
  permissions text[] not null default '{}',
  -- SHA-256 of what stands in the link.
  token_hash bytea not null,
  invited_by text not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  primary key (account_id, id)
);
create index invitations_token on invitations (token_hash);
create index invitations_email on invitations (email_key);

create table console_sessions (
  id uuid primary key,
  user_id uuid not null,
  -- SHA-256 of the cookie.
  token_hash bytea not null unique,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  ip text,
  user_agent text
) with (fillfactor = 70);
create index console_sessions_user on console_sessions (user_id);

-- Every node hears of whom it must ask anew; the id behind the colon is the person's.
create trigger tell after delete or update of email, name, operator, totp_secret on users
  for each row execute function tell_change('id');
create trigger tell after insert or update or delete on memberships
  for each row execute function tell_change('user_id');
create trigger tell after delete on console_sessions
  for each row execute function tell_change('user_id');
