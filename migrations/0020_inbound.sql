-- What messages over chats tell beyond their words, and the conversation that they belong to.

alter table inbound_messages
  -- What stands on the button that `button` is the payload of.
  add column button_title text,
  -- Files, by what the provider's link opens them by: [{type, mimetype, fileName, sizeBytes, reference}].
  add column media jsonb,
  -- The provider's id of the message that this one answers.
  add column reply_to text,
  -- As the platform knows the person.
  add column contact_id text,
  add column contact_name text,
  -- Null where the channel has no conversations: the session, bot or official sender, the chat in it, and its key.
  add column context_account text,
  add column chat_id text,
  add column conversation_key text;

-- The list by what was written to, by session, bot or official sender, and by conversation.
create index inbound_messages_recipient on inbound_messages (account_id, recipient, id);
create index inbound_messages_context on inbound_messages (account_id, context_account, id)
  where context_account is not null;
create index inbound_messages_conversation on inbound_messages (account_id, conversation_key, id)
  where conversation_key is not null;
