-- Of an address there is one invitation of a kind to an account that nobody has followed, also where two are made at
-- once: the later one.
delete from invitations i using invitations later
 where i.accepted_at is null and later.accepted_at is null and later.id > i.id
   and later.account_id = i.account_id and later.email_key = i.email_key and later.kind = i.kind;
create unique index invitations_open on invitations (account_id, email_key, kind) where accepted_at is null;
