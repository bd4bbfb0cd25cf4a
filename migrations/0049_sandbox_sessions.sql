-- A live key's web session is the sandbox's where no connection carries the channel, as any other live send is.

alter table web_sessions add sandbox boolean;
update web_sessions set sandbox = not live;
alter table web_sessions alter sandbox set not null;

-- Sessions that were linked without a connection had its defaults: they keep them.
insert into connections (account_id, id, provider, name, channels, config, max_attempts, backoff_ms, allowed_types,
                         send_mode_by_type)
select '00000000-0000-0000-0000-000000000000', uuid_at(now()), 'whatsapp-web', 'Web sessions', '{user_chatapp_session}', '{}', 12,
       2000, '{otp,utility,marketing,free_text}',
       '{"otp": "plain_text", "utility": "plain_text", "marketing": "plain_text", "free_text": "plain_text"}'
 where exists (select 1 from web_sessions w
                where w.live and not w.removing
                  and not exists (select 1 from connections c
                                   where c.provider = 'whatsapp-web'
                                     and c.account_id in ('00000000-0000-0000-0000-000000000000', w.account_id)));
