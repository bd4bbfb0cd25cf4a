import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { VerificationAttempt } from '../../../src/contract/verification.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { lookUntil } from '../../support/look-until.ts'
import { codeFor, nextPhone, wrongCode } from '../../support/verification.ts'

/** Two nodes on one database get concurrent requests, each on its own connection. */
let database: TestDatabase
let apps: TestApp[]
let account: TestAccount

beforeAll(async () => {
  database = await createTestDatabase()
  apps = await Promise.all(
    [1, 2].map(() => startTestApp({ database, clock: systemClock, logLevel: 'error' })),
  )
  account = await apps[0]!.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
})
afterAll(async () => {
  await Promise.all(apps.map(app => app.stop()))
  await database.drop()
})

type Operation = 'send' | 'resend' | 'verify'

function post(node: number, operation: Operation, body: unknown, key = account.testKey): Promise<Answer> {
  return apps[node % apps.length]!.call(`/api/v2/verification/${operation}`, { method: 'POST', key, body })
}

async function start(to: string): Promise<{ id: string; code: string }> {
  const answer = await post(0, 'send', { to })
  expect(answer.status).toBe(200)
  return { id: (answer.body as VerificationAttempt).verificationId, code: await codeFor(account, to) }
}

/** Makes `count` requests concurrently; `post` spreads them over the nodes. */
function race(count: number, request: (at: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => request(at)))
}

/** How often each response was given: `200`, or the code of an error. */
function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = status === 200 ? '200' : String(body['code'])
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** The code of the last of so many messages; waits for them, because a response may come before its message. */
async function lastCodeOf(to: string, messages: number): Promise<string> {
  const inbox = await apps[0]!.until(
    () => account.inbox(to),
    all => all.length >= messages,
  )
  expect(inbox).toHaveLength(messages)
  return codeFor(account, to)
}

/** Allows a resend at once, as if the last code had been sent long enough ago. */
async function allowResend(to: string): Promise<void> {
  await database.db.query({
    name: 'allow_resend',
    text: `update verifications set resend_at = started_at - interval '1 second' where recipient = $1`,
    values: [to],
  })
}

describe('racing checks', () => {
  test('with the right code succeed exactly once, by id and by number, on two nodes', async () => {
    const to = nextPhone()
    const { id, code } = await start(to)
    const answers = await race(200, at =>
      post(at, 'verify', { ...(at % 3 === 0 ? { to } : { verificationId: id }), code }),
    )
    expect(tally(answers)).toEqual({ '200': 1, VERIFICATION_ALREADY_USED: 199 })
  })

  test('with wrong codes count exactly five times, and then the right code is refused', async () => {
    const to = nextPhone()
    const { id, code } = await start(to)
    const answers = await race(200, at =>
      post(at, 'verify', {
        ...(at % 3 === 0 ? { to } : { verificationId: id }),
        code: wrongCode(code, 1 + (at % 9)),
      }),
    )
    expect(tally(answers)).toEqual({ VERIFICATION_CODE_INVALID: 5, VERIFICATION_ATTEMPTS_EXHAUSTED: 195 })
    const left = answers.flatMap(({ body }) =>
      'attemptsRemaining' in body ? [body['attemptsRemaining']] : [],
    )
    expect(left.sort()).toEqual([0, 1, 2, 3, 4])
    expect(tally(await race(4, at => post(at, 'verify', { to, code })))).toEqual({
      VERIFICATION_ATTEMPTS_EXHAUSTED: 4,
    })
  })

  test('with right and wrong codes count at most five wrong ones and one right one', async () => {
    for (let round = 0; round < 10; round++) {
      const to = nextPhone()
      const { code } = await start(to)
      const counts = tally(
        await race(40, at => post(at, 'verify', { to, code: at % 8 === 0 ? code : wrongCode(code) })),
      )
      const { '200': right = 0, VERIFICATION_CODE_INVALID: wrong = 0 } = counts
      expect(right <= 1 && wrong <= 5 && (right === 1 || wrong === 5)).toBe(true)
      expect(counts['VERIFICATION_ATTEMPTS_EXHAUSTED'] ?? 0).toBe(right === 1 ? 0 : 35)
      expect(counts['VERIFICATION_ALREADY_USED'] ?? 0).toBe(right === 1 ? 39 - wrong : 0)
    }
  })
})

test('of racing starts for one recipient exactly one is current in the end', async () => {
  const to = nextPhone()
  const answers = await race(40, at => post(at, 'send', { to }))
  expect(tally(answers)).toEqual({ '200': 40 })
  const ids = answers.map(({ body }) => body['verificationId'] as string)
  const statuses = await Promise.all(
    ids.map(async id => (await account.read<{ status: string }>(`/api/v2/verification/${id}`)).status),
  )
  expect(statuses.filter(status => status === 'pending')).toHaveLength(1)
  expect(statuses.filter(status => status === 'superseded')).toHaveLength(39)
  const winner = ids[statuses.indexOf('pending')]!
  const checks = await race(40, at => post(at, 'verify', { verificationId: ids[at], code: '1111' }))
  expect(checks.filter(({ body }) => 'attemptsRemaining' in body)).toHaveLength(1)
  expect(tally(checks)).toEqual({ NOT_FOUND: 39, VERIFICATION_CODE_INVALID: 1 })
  // The valid code is that of the current verification.
  const inbox = await account.inbox(to)
  const message = inbox.find(({ messageId }) => messageId.slice(4) === winner.slice(4))!
  const code = /\d{6}/.exec(message.text!)![0]
  expect((await post(1, 'verify', { to, code })).body).toMatchObject({ verificationId: winner })
})

test('of racing resends exactly one is accepted', async () => {
  for (let round = 0; round < 3; round++) {
    const to = nextPhone()
    const { id } = await start(to)
    await allowResend(to)
    const answers = await race(20, at => post(at, 'resend', at % 2 === 0 ? { to } : { verificationId: id }))
    expect(tally(answers)).toEqual({ '200': 1, RESEND_TOO_SOON: 19 })
    const code = await lastCodeOf(to, 2)
    expect((await post(round, 'verify', { verificationId: id, code })).status).toBe(200)
  }
})

test('a resend that had to wait for another one is told the wait that is left then', async () => {
  const to = nextPhone()
  await start(to)
  const { waiting } = await database.db.transaction(async tx => {
    await tx.query({ name: 'hold_verifications', text: 'lock table verifications in access exclusive mode' })
    const waiting = post(0, 'resend', { to })
    await lookUntil(countBlocked, blocked => blocked === 1, 10_000)
    await tx.query({
      name: 'resend_meanwhile',
      text: 'update verifications set resend_at = $2 where recipient = $1',
      values: [to, new Date(Date.now() + 60_000).toISOString()],
    })
    return { waiting }
  })
  const { body } = await waiting
  expect(body).toMatchObject({ code: 'RESEND_TOO_SOON', retryAfterSeconds: 60 })
})

/** Database sessions that wait for a lock. */
async function countBlocked(): Promise<number> {
  const { rows } = await database.db.query({
    name: 'count_blocked',
    text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return rows.length
}

test('a check that races a resend takes effect either before or after it', async () => {
  for (let round = 0; round < 24; round++) {
    const to = nextPhone()
    const { id, code } = await start(to)
    await allowResend(to)
    const [check, again] = await Promise.all([
      post(round, 'verify', { verificationId: id, code }),
      post(round + 1, 'resend', { verificationId: id }),
    ])
    const outcome = Object.keys(tally([check]))
      .concat(Object.keys(tally([again])))
      .join(' ')
    switch (outcome) {
      case '200 VERIFICATION_ALREADY_USED':
        expect(await account.inbox(to)).toHaveLength(1)
        break
      case 'VERIFICATION_CODE_INVALID 200':
        expect(check.body['attemptsRemaining']).toBe(4)
        expect((await post(round, 'verify', { to, code: await lastCodeOf(to, 2) })).status).toBe(200)
        break
      default:
        // Once in a million the new code is the old one.
        expect.fail(`neither before nor after: ${outcome}`)
    }
  }
})

test('a check that races a start takes effect either before or after it', async () => {
  for (let round = 0; round < 24; round++) {
    const to = nextPhone()
    const { id, code } = await start(to)
    const [check, later] = await Promise.all([
      post(round, 'verify', { verificationId: id, code }),
      post(round + 1, 'send', { to }),
    ])
    expect(later.status).toBe(200)
    const verified = check.status === 200
    if (!verified) expect(check.body).toMatchObject({ code: 'NOT_FOUND' })
    // In either order the later code is valid, and the earlier one is used or superseded.
    const again = await post(round, 'verify', { verificationId: id, code })
    expect(again.body['code']).toBe(verified ? 'VERIFICATION_ALREADY_USED' : 'NOT_FOUND')
    expect((await post(round, 'verify', { to, code: await lastCodeOf(to, 2) })).body).toMatchObject({
      success: true,
      verificationId: (later.body as VerificationAttempt).verificationId,
    })
  }
})

test('concurrent live starts, resends, checks and sends of one account cause no deadlock', async () => {
  const phones = Array.from({ length: 12 }, () => nextPhone())
  await race(12, at => post(at, 'send', { to: phones[at] }, account.liveKey))
  for (const to of phones) await allowResend(to)
  const answers = await race(240, at => {
    const to = phones[(at * 7) % 12]!
    switch (at % 4) {
      case 0:
        return post(at >> 2, 'send', { to }, account.liveKey)
      case 1:
        return post(at >> 2, 'resend', { to }, account.liveKey)
      case 2:
        return post(at >> 2, 'verify', { to, code: '000000' }, account.liveKey)
      default:
        return account.send({ to, text: 'Good morning' }, { live: true })
    }
  })
  const { rows } = await database.db.query<{ deadlocks: number }>({
    name: 'deadlocks',
    text: 'select deadlocks::integer from pg_stat_database where datname = current_database()',
  })
  expect(rows[0]!.deadlocks).toBe(0)
  expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([])
  const { rows: books } = await database.db.query<{ whole: boolean }>({
    name: 'books',
    text: 'select bool_and(balance + held + captured = credited) as whole from wallets',
  })
  expect(books[0]!.whole).toBe(true)
})
