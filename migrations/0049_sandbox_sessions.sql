-- A live key's web session is the sandbox's where no connection carries the channel, as any other live send is.

alter table web_sessions add sandbox boolean;
update web_sessions set sandbox = not live;
alter table web_sessions alter sandbox set not null;

-- Accounts that linked sessions without a connection had its defaults: they keep them, in one of their own. One of the platform
-- would also resume what the operator has paused by disabling an account's own, and end the sandbox of all other accounts.
insert into connections (account_id, id, provider, name, channels, config, max_attempts, backoff_ms, allowed_types,
                         send_mode_by_type)
select w.account_id, uuid_at(now()), 'whatsapp-web', 'Web sessions', '{user_chatapp_session}', '{}', 12, 2000,
       '{otp,utility,marketing,free_text}',
       '{"otp": "plain_text", "utility": "plain_text", "marketing": "plain_text", "free_text": "plain_text"}'
  from (select distinct account_id from web_sessions where live and not removing) w
 where not exists (select 1 from connections c
                    where c.provider = 'whatsapp-web'
                      and c.account_id in ('00000000-0000-0000-0000-000000000000', w.account_id));
