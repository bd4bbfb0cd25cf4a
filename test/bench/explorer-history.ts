import { firstUuidAt, fromUuid, toUuid } from '../../src/lib/ids.ts'
import type { System } from './system.ts'

/** Messages of the account that is measured; another account has a fifth as many in between. */
export const MESSAGES = 1_000_000
/** The number of messages with each rare value. */
export const RARE = 3
const DAYS = 60
const DAY_MS = 86_400_000
const SLICE = 100_000

/**
 * Stores messages like those of sixty days of traffic: in order of time, at a rate that varies over the day,
 * most of them delivered, to some 200,000 recipients. Each rare value has three messages, far apart; those of
 * the rare bulk job follow each other.
 */
export async function fillHistory({ db, ids }: Pick<System, 'db' | 'ids'>, messages: number) {
  const account = toUuid(ids.accounts[0] as `acc_${string}`)
  const other = toUuid(ids.accounts[1] as `acc_${string}`)
  const endMs = Date.now() - 60_000
  const startMs = endMs - DAYS * DAY_MS
  const templates = { common: firstUuidAt(startMs), rare: firstUuidAt(startMs + 1) }
  const halfMs = startMs + (DAYS * DAY_MS) / 2
  const jobs = { common: firstUuidAt(startMs), rare: firstUuidAt(halfMs - 3_600_000) }
  for (let day = 0; day <= DAYS + 31; day += 28) {
    await db.query(MAKE_MONTH, [new Date(startMs + day * DAY_MS).toISOString()])
  }
  await db.query(`set synchronous_commit = off`)
  for (let from = 1; from <= messages; from += SLICE) {
    await db.query(FILL, [
      account,
      other,
      startMs,
      (DAYS * DAY_MS) / messages,
      from,
      from + SLICE - 1,
      messages,
      templates.common,
      templates.rare,
      jobs.common,
      jobs.rare,
    ])
  }
  await db.query(`insert into outbox (account_id, message_id, connection_id, due_at, begun)
    select account_id, id, connection_id, 'infinity', status = 'unknown' from messages
     where status in ('scheduled', 'queued', 'unknown')`)
  await db.query(
    `insert into bulk_jobs (account_id, id, live, key_id, status, ended_at)
      values ($1, $2, true, $1, 'completed', $3), ($1, $4, true, $1, 'running', null)`,
    [account, jobs.rare, new Date(halfMs + 3_600_000).toISOString(), jobs.common],
  )
  // As autovacuum would have done by then.
  await db.query('vacuum analyze messages')
  const wire = (prefix: 'tpl' | 'job', { common, rare }: typeof templates) => ({
    common: fromUuid(prefix, common),
    rare: fromUuid(prefix, rare),
  })
  return { account, endMs, templates: wire('tpl', templates), jobs: wire('job', jobs) }
}

/** Makes the partitions of the month that contains $1. */
const MAKE_MONTH = `
  select make_month(c.relname::text, $1) from pg_partitioned_table p join pg_class c on c.oid = p.partrelid`

/** Inserts messages $5 to $6 of $7; one in six belongs to the other account. */
const FILL = `
  insert into messages (
    account_id, id, live, attempt, parts, status, channel, message_type, recipient, country, provider, connection_id,
    sender, sender_source, candidates, content, template_id, bulk_job_id, amount, funding, money, answer, attempt_at,
    settled_at, provider_id, error_code, error_detail, scheduled_at, unknown_at, sent_at, delivered_at, read_at, ended_at)
  select owner, (lpad(to_hex(floor(at)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8'
           || lpad(to_hex(n), 7, '0') || lpad(to_hex(copy), 8, '0'))::uuid,
         copy <> 0 or not rare or n % 7 <> 1, 1, 1 + (n % 9 = 0)::integer, status, channel,
         case when rare and n % 7 = 2 then 'free_text' when n % 10 < 4 then 'otp' when n % 10 < 8 then 'utility' else 'marketing' end,
         case when rare and n % 7 = 3 then '+4915108888888' when n % 20 = 0 then '+4915109999999'
              else '+49151' || lpad((n::bigint * 7919 % 200000)::text, 8, '0') end,
         case when channel = 'int_sms' then 'US' else 'DE' end, 'smpp', '00000000-0000-7000-8000-000000000001',
         'Posthorn', 'account_default', channel,
         json_build_object('text', 'Your parcel ' || n || ' is on its way and will be with you between two and four.'),
         case when copy <> 0 then null when rare and n % 7 = 4 then $9::uuid when n % 5 = 0 then $8::uuid end,
         case when copy <> 0 then null when n between $7::integer / 2 and $7::integer / 2 + 2 then $11::uuid when n % 3 = 0 then $10::uuid end,
         75000, 'wallet', case when status in ('failed', 'cancelled') then 'released' else 'captured' end, 'sent',
         time, time, 'p' || n, code, case when code is not null then 'refused' end,
         case when status = 'scheduled' then time + interval '1 day' end, case when status = 'unknown' then time end,
         case when status in ('sent', 'delivered', 'read', 'undelivered') then time end,
         case when status in ('delivered', 'read') then time + interval '3 s' end,
         case when status = 'read' then time + interval '1 minute' end,
         case when status in ('failed', 'undelivered', 'cancelled') then time end
    from (
      select *, to_timestamp(at / 1000) as time,
             case when status <> 'failed' then null when rare then 'INTERNAL_ERROR'
                  when n % 3 = 0 then 'RECIPIENT_REJECTED' when n % 3 = 1 then 'MESSAGE_REJECTED' else 'PROVIDER_UNAVAILABLE' end as code
        from (
          select *, case when copy = 0 then $1::uuid else $2::uuid end as owner,
                 -- The rate varies over 24 hours: at its lowest it is about a third of its highest.
                 $3::float8 + $4::float8 * n + 2 * 3600000 * sin(2 * pi() * $4::float8 * n / 86400000) as at,
                 case when rare and n % 7 = 6 then 'botapp_bot' when n % 100 < 70 then 'local_sms' when n % 100 < 90 then 'int_sms'
                      when n % 100 < 96 then 'official_chatapp' else 'email_user' end as channel,
                 case when rare and n % 7 = 0 then 'unknown' when rare and n % 7 = 1 then 'cancelled' when rare and n % 7 = 2 then 'failed'
                      when n > $7::integer - 50 and n % 2 = 0 then 'queued' when n % 2000 = 0 then 'scheduled' when n % 1000 < 14 then 'failed'
                      when n % 1000 < 34 then 'undelivered' when n % 1000 < 59 then 'read' when n % 1000 < 119 then 'sent'
                      else 'delivered' end as status
            from (
              -- Three groups of seven consecutive messages: n % 7 says which rare values a message has; 5 has none.
              select n, copy, copy = 0 and n / 7 in ($7::integer / 70 + 70, $7::integer / 14 + 70, $7::integer / 8 + 70) as rare
                from generate_series($5::integer, $6::integer) as n, generate_series(0, (n % 5 = 0)::integer) as copy
            ) numbered
        ) timed
    ) told
   order by at`
