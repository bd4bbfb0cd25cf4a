-- Suppressions apply to a group under the id that it had and the one that it has moved to, whichever bot it was.
create index bot_subscribers_moved_from on bot_subscribers (account_id, chat_id) where moved_to is not null;
create index bot_subscribers_moved_to on bot_subscribers (account_id, moved_to) where moved_to is not null;
