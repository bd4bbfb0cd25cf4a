-- Bots that accounts bring along, and the chats that started them.

create table bots (
  account_id uuid not null,
  id uuid not null,
  -- Over which it is reached; null for one of the sandbox.
  connection_id uuid,
  -- Made by a test key: no platform knows it.
  sandbox boolean not null,
  -- The platform's own number of it, as text.
  platform_id text not null,
  username text,
  name text not null,
  -- Sealed; null for one of the sandbox.
  token bytea,
  state text not null check (state in ('active', 'unauthorized')),
  -- How its updates come; null until that is settled with the platform, and in the sandbox.
  mode text check (mode in ('webhook', 'polling')),
  -- The public address by which that was settled; null for none.
  public_url text,
  primary key (account_id, id)
);
-- A bot has one listener at the platform: two accounts would take each other's updates away.
create unique index bots_platform on bots (platform_id) where not sandbox;
create unique index bots_sandbox on bots (account_id, platform_id) where sandbox;
-- A call of the platform names the bot alone.
create index bots_id on bots (id);
create trigger tell after insert or update or delete on bots
  for each row execute function tell_change('account_id');

-- What changes with each update, apart from what caches hold.
create table bot_feeds (
  account_id uuid not null,
  bot_id uuid not null,
  -- A node shall ask for its updates.
  polled boolean not null default false,
  -- Who does, and since which claim: what an earlier holder brings is refused.
  node bigint,
  fence bigint not null default 0,
  last_update_at timestamptz,
  -- Kept, never counted.
  subscribers bigint not null default 0,
  primary key (account_id, bot_id)
) with (fillfactor = 60);
create index bot_feeds_polled on bot_feeds (node) where polled;

create table bot_subscribers (
  account_id uuid not null,
  bot_id uuid not null,
  chat_id text not null,
  -- The platform's number of the person; of whoever spoke last in a group.
  user_id text,
  username text,
  first_name text,
  last_name text,
  start_payload text,
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- The update that this is from: an older one, come late, changes nothing.
  seen_update bigint not null,
  blocked_at timestamptz,
  -- The chat that this one has become; it is no subscriber any more, but still leads there.
  moved_to text,
  primary key (account_id, bot_id, chat_id)
) with (fillfactor = 80);
create index bot_subscribers_newest on bot_subscribers (account_id, bot_id, started_at desc, chat_id)
  where moved_to is null;

-- Bots of which nothing may stay: their subscribers are removed piece by piece.
create table bot_removals (
  account_id uuid not null,
  bot_id uuid not null,
  primary key (account_id, bot_id)
);
