-- Who made what outlives a request: the invitations of somebody who may make none any more end,
-- and an account is told which of its keys came from whoever leaves it.

-- The person or the key; null for the operator's token, and for what was made before this.
alter table invitations add column inviter_id uuid;
-- Whose password a reset sets: not that of whoever has the address by then.
alter table invitations add column user_id uuid;
-- Links of before say neither: they are made anew in a moment.
delete from invitations where kind = 'reset' and accepted_at is null;
create index invitations_inviter on invitations (inviter_id) where accepted_at is null;

alter table api_keys add column made_by_type text check (made_by_type in ('user', 'api_key', 'operator_token'));
alter table api_keys add column made_by_id uuid;
-- As they were called then.
alter table api_keys add column made_by_name text;
create index api_keys_made_by on api_keys (made_by_id) where made_by_id is not null;
