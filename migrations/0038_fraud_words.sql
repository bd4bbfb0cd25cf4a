-- What a node counted it says in one row, which the others read: an index of when each tally
-- changed was written with every tally, and kept none of them in its place.
create table fraud_words (
  id bigint generated always as identity primary key,
  node bigint not null,
  -- By the clock of the database.
  at timestamptz not null default clock_timestamp(),
  accounts uuid[] not null,
  keys text[] not null
);

drop index fraud_tallies_changed;
drop function if exists fold_tallies;
alter table fraud_tallies drop column changed_at;
