-- How messages fare, by the hour in which things happened: kept, never counted over them.

create table message_totals (
  account_id uuid not null,
  live boolean not null,
  hour timestamptz not null,
  channel text not null,
  sent bigint not null default 0,
  delivered bigint not null default 0,
  undelivered bigint not null default 0,
  failed bigint not null default 0,
  unknown bigint not null default 0,
  cancelled bigint not null default 0,
  -- Millionths of the account's currency that its wallet paid, less what came back.
  cost bigint not null default 0,
  primary key (account_id, live, hour, channel)
) with (fillfactor = 60);

-- What the functions that move messages have to add to them: a row per call, account and
-- channel, in the same transaction, so that it is exact. Rows are appended and never waited
-- for, where the totals' own would be fought for by every batch; a chore adds them up within
-- seconds, and whoever reads the totals reads what is still here too.
create table message_deltas (
  account_id uuid not null,
  live boolean not null,
  hour timestamptz not null,
  channel text not null,
  sent integer not null default 0,
  delivered integer not null default 0,
  undelivered integer not null default 0,
  failed integer not null default 0,
  unknown integer not null default 0,
  cancelled integer not null default 0,
  cost bigint not null default 0
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- The status that the receipt of its reading met: one that was not delivered until then
-- counts as delivered with it.
alter table messages add column read_after text;
