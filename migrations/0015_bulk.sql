-- Bulk jobs: many different messages, taken in at once and sent at their own pace.

-- A job's id is a UUIDv7: it sorts by creation, which is the order in which an account's
-- ceiling is dealt out. What is counted here is never counted again over the rows.
create table bulk_jobs (
  account_id uuid not null,
  id uuid not null,
  live boolean not null,
  key_id uuid not null,
  -- The Idempotency-Key; given back when the intake did not come to its end.
  key text,
  -- Of name, rate and messages in canonical form; null until all of it is here.
  body_hash bytea,
  name text not null default '',
  -- Null while the body has not said it yet.
  per_second smallint check (per_second between 1 and 10),
  status text not null,
  pause_reason text,
  -- When a provider's wait is over.
  resume_at timestamptz,
  -- What the row that nothing covered asks for: the job goes on when this is there.
  needs_amount bigint,
  needs_channel text,
  total integer not null default 0,
  validated integer not null default 0,
  invalid integer not null default 0,
  sent integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  error_code text,
  error_message text,
  -- Who takes it in, or validates it.
  node bigint,
  -- The cheapest row of each channel in micros, for the look at the balance.
  cheapest jsonb not null default '{}',
  -- All rows below have an outcome: where whoever comes next begins to look.
  handed_below integer not null default 0,
  -- Rows are still to be settled; a cancelled job's last ones, too.
  unsettled boolean not null default false,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (account_id, id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create unique index bulk_jobs_key on bulk_jobs (account_id, key) where key is not null;
create index bulk_jobs_open on bulk_jobs (status) where ended_at is null;
create index bulk_jobs_unsettled on bulk_jobs (account_id, id) where unsettled;

-- The messages as they came, in canonical JSON; written once, by COPY. Narrow, and
-- kept by the month of the job: they go with their partition.
create table bulk_rows (
  account_id uuid not null,
  job_id uuid not null,
  n integer not null,
  body text not null,
  primary key (account_id, job_id, n)
) partition by range (job_id);

-- What became of a row: the message that it is, or why it is none. A row without an
-- outcome waits; 'open' is a message on its way.
create table bulk_outcomes (
  account_id uuid not null,
  job_id uuid not null,
  n integer not null,
  state text not null,
  message_id uuid,
  error_code text,
  error_message text,
  primary key (account_id, job_id, n)
) partition by range (job_id);
create index bulk_outcomes_state on bulk_outcomes (account_id, job_id, state, n);

-- The right to hand over an account's rows: one node at a time, with a fencing number.
create table bulk_lanes (
  account_id uuid primary key,
  node bigint,
  fence bigint not null default 0
) with (fillfactor = 80);

-- Jobs of which nothing may stay: their rows are removed piece by piece.
create table bulk_sweeps (
  account_id uuid not null,
  job_id uuid not null,
  primary key (account_id, job_id)
);

-- Whoever hands rows over holds it shared, whoever ends a job or takes a lane holds it
-- alone: in memory, so that it costs the hand-over no write.
create function bulk_lock(account uuid) returns bigint language sql immutable parallel safe as $$
  select hashtextextended('posthorn_bulk:' || account::text, 0)
$$;

-- Partitions by another column than `id`, for rows that belong to something else.
drop function make_partition(text, text, uuid, uuid, text);
create function make_partition(parent text, name text, low uuid, high uuid, settings text, key text default 'id')
returns void language plpgsql as $$
declare
  strays boolean;
begin
  if to_regclass(name) is not null then return; end if;
  execute format('select exists (select 1 from %I where %I >= $1 and %I < $2)', parent || '_other', key, key)
    into strays using low, high;
  if not strays then
    execute format('create table %I partition of %I for values from (%L) to (%L) with (%s)', name, parent, low, high, settings);
    return;
  end if;
  execute format('lock table %I in access exclusive mode', parent || '_other');
  execute format('create table %I (like %I including defaults including constraints) with (%s)', name, parent, settings);
  execute format('with strays as (delete from %I where %I >= $1 and %I < $2 returning *) insert into %I select * from strays',
    parent || '_other', key, key, name) using low, high;
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, name, low, high);
end $$;

create or replace function ensure_month(month date) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', month::timestamp) at time zone 'UTC';
  next timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC';
  suffix text := to_char(month, 'YYYY_MM');
begin
  perform pg_advisory_xact_lock(hashtext('posthorn_partitions'));
  perform make_partition('messages', 'messages_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 60, autovacuum_vacuum_insert_scale_factor = 0.1');
  perform make_partition('events', 'events_' || suffix, first_uuid_at(first), first_uuid_at(next), 'fillfactor = 100');
  perform make_partition('deliveries', 'deliveries_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000');
  perform make_partition('inbound_messages', 'inbound_messages_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 100');
  perform make_partition('verifications', 'verifications_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 80, autovacuum_vacuum_insert_scale_factor = 0.1');
  perform make_partition('bulk_rows', 'bulk_rows_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 100', 'job_id');
  perform make_partition('bulk_outcomes', 'bulk_outcomes_' || suffix, first_uuid_at(first), first_uuid_at(next),
    'fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05', 'job_id');
end $$;

create table bulk_rows_other partition of bulk_rows default;
create table bulk_outcomes_other partition of bulk_outcomes default;

select ensure_month((now() at time zone 'UTC')::date);
select ensure_month(((now() at time zone 'UTC') + interval '1 month')::date);

-- Every node hears of a job that came, went on or ended; progress is read, not told.
create trigger bulk_jobs_changed after insert or delete on bulk_jobs
  for each row execute function tell_change('account_id');
create trigger bulk_jobs_moved after update of status, pause_reason on bulk_jobs
  for each row when (old.status is distinct from new.status or old.pause_reason is distinct from new.pause_reason)
  execute function tell_change('account_id');

-- Tells whoever listens how a job stands, in the transaction that moved it. One that
-- waits for its turn again and again is told of once.
create function tell_bulk() returns trigger language plpgsql as $$
begin
  insert into events (account_id, id, type, at, data)
    select new.account_id, uuid_at(now()), 'bulk.' || new.status, now(), jsonb_build_object(
             'jobId', new.id, 'live', new.live, 'name', new.name, 'status', new.status,
             'messagesPerSecond', new.per_second, 'pauseReason', new.pause_reason, 'total', new.total,
             'validatedCount', new.validated, 'sent', new.sent, 'failed', new.failed, 'cancelled', new.cancelled,
             'errorCode', new.error_code, 'errorMessage', new.error_message)
      from accounts c where c.id = new.account_id and 'bulk.' || new.status = any (c.event_types);
  return null;
end $$;
create trigger tell_bulk after update of status on bulk_jobs
  for each row when (
    old.status <> new.status and (
      new.status in ('rejected', 'paused', 'completed', 'cancelled')
      or new.status = 'queued' and old.status in ('validating', 'paused')
      or new.status = 'running' and old.started_at is null))
  execute function tell_bulk();
