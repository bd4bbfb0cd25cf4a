-- Web sessions: accounts of the chat app's own users, which Posthorn is linked to as a device.

create table web_sessions (
  account_id uuid not null,
  -- Also the connection of whatever goes over it: it has a lane, receipts and inbound of its own.
  id uuid not null,
  name text not null,
  -- A test key's are the sandbox's: always open, and nobody's to hold.
  live boolean not null,
  state text not null check (state in ('connecting', 'qr', 'pairing_code', 'open', 'closed', 'logged_out')),
  -- Why it is as it is, in words.
  detail text,
  -- What links it, sealed: the QR code or the code to type, and until when.
  pairing bytea,
  -- E.164 of the phone that is to be linked by a code; by a QR code without.
  asked_phone text,
  -- Of the account that it is linked to.
  phone text,
  push_name text,
  paired_at timestamptz,
  opened_at timestamptz,
  changed_at timestamptz not null,
  -- What its listeners were told last.
  told text,
  -- A node shall hold it.
  wanted boolean not null,
  -- To be logged out and forgotten; its name is free already.
  removing boolean not null default false,
  -- Rises with each restart that was asked for.
  turn integer not null default 0,
  -- Who holds it, and since which claim: what an earlier holder writes is refused.
  node bigint,
  fence bigint not null default 0,
  primary key (account_id, id)
) with (fillfactor = 70);
create unique index web_sessions_name on web_sessions (account_id, live, name) where not removing;
create index web_sessions_held on web_sessions (node) where wanted or removing;
create trigger tell after insert or update or delete on web_sessions
  for each row execute function tell_change('account_id');

-- What makes us the linked device: credentials and message keys, each sealed.
create table web_session_keys (
  account_id uuid not null,
  session_id uuid not null,
  kind text not null,
  key_id text not null,
  value bytea not null,
  primary key (account_id, session_id, kind, key_id)
);

create table web_session_chats (
  account_id uuid not null,
  session_id uuid not null,
  -- As it is sent to: E.164 of a person, or a group id.
  chat_id text not null,
  kind text not null check (kind in ('user', 'group')),
  name text,
  last_message_at timestamptz,
  primary key (account_id, session_id, chat_id)
);
