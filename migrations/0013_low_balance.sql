-- Accounts that want to be told when their balance falls below a threshold, in
-- micros, and whether it is below it by what they were told. Apart from the
-- wallets, which every send moves: this is looked at by a chore.
create table low_balances (
  account_id uuid primary key,
  threshold bigint not null check (threshold > 0),
  low boolean not null default false
);
