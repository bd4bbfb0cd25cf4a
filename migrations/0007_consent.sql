-- Who must not be sent marketing to, and the hours in which nobody is.

-- One recipient that an account may not send marketing to, on one channel or on
-- all ('*'). A row of the platform's is what somebody said to a number that many
-- accounts share: it holds for whoever sends by that connection's own sender.
create table suppressions (
  account_id uuid not null,
  id uuid not null,
  -- As it is shown; and as it is compared, since addresses that differ by case alone are one.
  recipient text not null,
  recipient_key text not null,
  channel text not null,
  -- The platform's rows alone.
  connection_id uuid,
  source text not null check (source in ('api', 'stop', 'provider')),
  reason text,
  primary key (account_id, id),
  -- Also the look-up of a send.
  unique nulls not distinct (account_id, recipient_key, channel, connection_id)
);
create index suppressions_channel on suppressions (account_id, channel, id);

-- Providers' words that somebody has opted out, of messages whose submit is not answered yet:
-- nobody knows by then which message the provider's id stands for.
create table parked_opt_outs (
  connection_id uuid not null,
  provider_id text not null,
  provider_code text,
  received_at timestamptz not null,
  primary key (connection_id, provider_id)
);

-- Minutes of the day, in the recipient's own time: from the start on until the end marketing waits.
alter table accounts
  add column quiet_start smallint check (quiet_start between 0 and 1439),
  add column quiet_end smallint check (quiet_end between 0 and 1439),
  add check ((quiet_start is null) = (quiet_end is null)),
  add check (quiet_start <> quiet_end);
