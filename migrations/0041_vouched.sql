-- A request told of the message under its key or in its batch: whoever accepted it, and could not tell its own
-- sender, does not take it back any more. Null until then.
alter table messages add column vouched boolean;
