-- Official senders: connections of the channel official_chatapp, and what their
-- providers say of them.

-- By the provider's word, as of the last look; the name is null until it has said something.
create table official_senders (
  account_id uuid not null,
  connection_id uuid not null,
  -- E.164 with its plus.
  phone_number text,
  display_name text,
  quality_rating text,
  messaging_limit text,
  status text,
  checked_at timestamptz,
  -- When a node may look again: also the claim of the one that looks.
  next_check_at timestamptz not null,
  primary key (account_id, connection_id)
);

-- The sender that an account chose as its default; without a connection it is the platform's.
create table official_defaults (
  account_id uuid primary key,
  connection_id uuid
);
create trigger tell after insert or update or delete on official_defaults
  for each row execute function tell_change('account_id');

-- Until when a recipient may be written to in free text: a day after they last wrote to us.
-- Belongs to the connection, as their messages do.
create table conversation_windows (
  connection_id uuid not null,
  recipient text not null,
  open_until timestamptz not null,
  primary key (connection_id, recipient)
);
create index conversation_windows_end on conversation_windows (open_until);

-- Templates that were put before the sandbox. Accounts share its connection, so a name may
-- stand several times; what becomes of one is decided by its name alone. A node claims what
-- is decided for a few seconds, tells it, and notes that it was told.
create table sandbox_templates (
  id bigint generated always as identity primary key,
  connection_id uuid not null,
  name text not null,
  language text not null,
  decided_at timestamptz not null,
  told boolean not null default false,
  claimed_until timestamptz
);
create index sandbox_templates_name on sandbox_templates (connection_id, name, language, id);
create index sandbox_templates_due on sandbox_templates (connection_id, decided_at) where not told;

-- Why a message was refused after all, where its receipt came before the submit's answer.
alter table parked_receipts add column error_code text;
