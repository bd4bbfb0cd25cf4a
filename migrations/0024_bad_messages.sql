-- Messages that ended badly, or are tried again: what people look for, and few among many. None of
-- the two columns changes on the way of a message that goes well, so that its updates stay within
-- its page and touch no index (an index over `status` would end that for all).
create index messages_bad on messages (account_id, id) where ended_at is not null or error_code is not null;
