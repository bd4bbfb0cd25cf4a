-- Places and contact cards that people send: {latitude, longitude, name, address}, and [{id, name, phones, emails}].
alter table inbound_messages
  add column location jsonb,
  add column contacts jsonb;
