-- Who changed what, when and from where. Sends are no part of it: messages say that themselves.

create table audit_log (
  -- The platform's own account for what belongs to nobody in particular.
  account_id uuid not null,
  id uuid not null,
  actor_type text not null check (actor_type in ('user', 'api_key', 'operator_token')),
  actor_id uuid,
  -- As they were called then: an actor may be gone by the time that somebody asks.
  actor_name text not null,
  action text not null,
  target text,
  -- Without secrets: each route names the fields that are told.
  changes json not null,
  ip text,
  request_id uuid not null,
  primary key (account_id, id)
);
-- For whoever reads that of all accounts.
create index audit_log_all on audit_log (id);

-- It only grows.
create function keep_audit_log() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log only grows';
end $$;
create trigger keep before update or delete or truncate on audit_log
  for each statement execute function keep_audit_log();
