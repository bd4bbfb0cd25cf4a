-- Templates: what a message may say, with places for what changes from one to the next.

create table templates (
  account_id uuid not null,
  id uuid not null,
  name text not null,
  category text not null check (category in ('chatapp', 'sms', 'message', 'email')),
  sub_type text not null check (sub_type in ('utility', 'otp', 'marketing', 'free')),
  -- '' where it has none.
  language text not null,
  provider text not null check (provider in ('user_session', 'official_provider', 'internal')),
  status text not null check (status in ('pending', 'approved', 'rejected', 'active', 'disabled')),
  -- Why it was rejected or disabled, in the provider's words.
  reason text,
  -- As it was given, and the same with its places found. json, not jsonb: read back
  -- whole alone, and it keeps every string.
  spec json not null,
  compiled json not null,
  -- The file of its header: what a template shows is not swept.
  header_asset_id uuid,
  -- Official ones alone: the connection that it was put before, under which name, and
  -- what the provider calls it.
  connection_id uuid,
  on_platform_number boolean not null default false,
  provider_name text,
  provider_template_id text,
  -- When the provider was last asked how it stands, and when it will be asked next.
  last_checked_at timestamptz,
  next_check_at timestamptz,
  primary key (account_id, id),
  unique (account_id, name, language, provider),
  check ((provider = 'official_provider') = (connection_id is not null))
);

-- The provider's word on a template names connection, name and language.
create index templates_official on templates (connection_id, provider_name, language)
  where connection_id is not null;
create index templates_to_check on templates (next_check_at) where next_check_at is not null;
create index templates_headers on templates (header_asset_id) where header_asset_id is not null;

-- What an account uses where a send names no template. May be one of the platform's.
create table template_defaults (
  account_id uuid not null,
  category text not null,
  sub_type text not null,
  template_id uuid not null,
  primary key (account_id, category, sub_type)
);

-- A name while its template is before the provider, so that of two requests one alone
-- asks. Outlives its request only where the node died; then it lapses by itself.
create table template_claims (
  account_id uuid not null,
  name text not null,
  language text not null,
  claimed_at timestamptz not null,
  primary key (account_id, name, language)
);

-- Looking at one (last_checked_at, next_check_at) changes nothing for whoever sends by it.
create trigger tell after insert or delete
  or update of status, spec, compiled, connection_id, provider_template_id on templates
  for each row execute function tell_change('account_id');
create trigger tell after insert or update or delete on template_defaults
  for each row execute function tell_change('account_id');
