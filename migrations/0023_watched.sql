-- Whose messages somebody watches at this moment (server-sent events), on whatever node; and
-- until when what becomes of them is noted down below. Each node that serves a watcher says so anew
-- every few seconds, so that a row of a dead node ends by itself.
create table watched_accounts (
  account_id uuid primary key,
  until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- Which messages of a watched account have moved: a row for each call of the functions that move
-- them, in the same transaction. The nodes that serve watchers read it once a second, whatever
-- number of them there is; a chore forgets what is some minutes old. An account that nobody
-- watches has no rows here, and costs its calls one look at the table above.
create table message_moves (
  account_id uuid not null,
  id bigint generated always as identity,
  at timestamptz not null,
  messages uuid[] not null,
  primary key (account_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
