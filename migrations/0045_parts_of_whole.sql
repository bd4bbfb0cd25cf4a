-- Both indexes began with the connection, so that a plan made while the table was empty looked for the parts of one
-- message among all parts of its connection.
drop index message_parts_whole;
create index message_parts_whole on message_parts (whole_id);
