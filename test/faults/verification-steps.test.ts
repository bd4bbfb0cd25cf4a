import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { VerificationAttempt, VerificationView } from '../../src/contract/verification.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { wrongCode } from '../support/verification.ts'
import { type Account, admin, ask, createAccount, read, until } from './support/client.ts'
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

/**
 * A verification supersedes an earlier one of the same recipient. The process is killed between two chosen
 * steps: before a database query arrives, or after it was executed and before its response arrives.
 */
const SMS_PRICE = 0.01
const BALANCE = 10

let database: TestDatabase
let proxy: DatabaseProxy
let smsc: Smsc
let node: Posthorn
let account: Account
let to: string
let earlier: { id: string; code: string }
let cases = 0

beforeAll(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.url)
  smsc = await startSmsc('accept')
  node = await startNode()
  await admin(node.url, 'PUT', '/prices', {
    prices: [{ channel: 'local_sms', country: '*', price: SMS_PRICE, currency: 'USD' }],
  })
  await admin(node.url, 'POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    config: { host: '127.0.0.1', port: smsc.port, systemId: 'posthorn', password: 'secret' },
  })
}, 60_000)
afterAll(async () => {
  await node.stop()
  await proxy.close()
  await smsc.close()
  await database.drop()
})

beforeEach(async () => {
  cases++
  to = `+1202555${3_000 + cases}`
  account = await createAccount(node.url, { balance: BALANCE })
  const answer = await definite(() => post('send', { to }, `earlier ${cases}`))
  const { verificationId } = JSON.parse(answer!.text) as VerificationAttempt
  // The link may still be connecting.
  expect(await settledMessage(verificationId)).toBe('sent')
  earlier = { id: verificationId, code: lastCode() }
})
afterEach(() => node.checkAlive())

function startNode(): Promise<Posthorn> {
  return startPosthorn({ DATABASE_URL: proxy.url, POSTHORN_DB_POOL: '4', POSTHORN_SANDBOX: 'off' })
}

/** Kills the node when the query or response is lost, and starts the next one after the dead one's lease has ended. */
async function killWhen(lost: Promise<void>): Promise<void> {
  await lost
  await node.kill()
  await database.db.query({ name: 'lease_is_over', text: `update nodes set seen_at = '-infinity'` })
  node = await startNode()
}

function post(operation: 'send' | 'resend' | 'verify', body: unknown, key?: string) {
  return ask(node.url, `/api/v2/verification/${operation}`, {
    method: 'POST',
    headers: { 'x-api-key': account.liveKey, ...(key !== undefined && { 'idempotency-key': key }) },
    body,
  })
}

const startLater = () => post('send', { to }, `later ${cases}`)
const definite = (request: typeof startLater) =>
  until(request, answer => answer !== null && answer.status !== 409 && answer.status < 500)
const codesSent = () => smsc.submits.filter(submit => `+${submit['destination_addr']}` === to).map(codeIn)
const lastCode = () => codesSent().at(-1)!

function codeIn({ text }: { text: string }): string {
  return /\d{6}/.exec(text)![0]
}

function view(id: string): Promise<VerificationView> {
  return read<VerificationView>(node.url, account, `/api/v2/verification/${id}`)
}

async function verify(which: object, code: string) {
  const answer = await until(
    () => post('verify', { ...which, code }),
    each => each !== null && each.status < 500,
  )
  return { status: answer!.status, ...(JSON.parse(answer!.text) as Record<string, unknown>) }
}

async function expectMoney(messages: number): Promise<void> {
  const wallet = await read<Record<'balance' | 'held' | 'captured', number>>(
    node.url,
    account,
    '/api/v2/wallet',
  )
  expect(wallet.held + wallet.captured).toBeCloseTo(messages * SMS_PRICE, 6)
  expect(wallet.balance + wallet.held + wallet.captured).toBeCloseTo(BALANCE, 6)
}

/** The status of a verification's message, once it is sent, unknown or failed. */
async function settledMessage(id: string): Promise<string> {
  const message = await until(
    () => read<{ status: string }>(node.url, account, `/api/v2/messages/msg_${id.slice(4)}`),
    each => ['sent', 'unknown', 'failed'].includes(each.status),
  )
  return message.status
}

async function allowResend(): Promise<void> {
  await database.db.query({
    name: 'allow_resend',
    text: `update verifications set resend_at = started_at - interval '1 second' where recipient = $1`,
    values: [to],
  })
}

describe('a verification whose start is killed', { timeout: 60_000 }, () => {
  test.each([
    // Superseding and accepting are one transaction: before it nothing has happened.
    ['before it is accepted', 'accept_verifications', 'before', 'sent', 2],
    // Between accepting and submitting: whether it was submitted is unknown, so it is not sent again.
    ['after it is accepted and before the submit', 'accept_verifications', 'after', 'unknown', 1],
    ['after the submit and before the outcome is stored', 'settle_attempts', 'before', 'unknown', 2],
    ['after the outcome is stored', 'settle_attempts', 'after', 'sent', 2],
  ] as const)('%s is completed once by a repeat', async (_, step, when, status, sent) => {
    const lost = proxy.loseAt(step, when)
    const first = startLater()
    await killWhen(lost)
    expect(await first).toBeNull()

    const answer = await definite(startLater)
    const later = JSON.parse(answer!.text) as VerificationAttempt
    expect(later).toMatchObject({ success: true, channel: 'local_sms', resendCount: 0 })
    expect(later.verificationId).not.toBe(earlier.id)
    expect(await settledMessage(later.verificationId)).toBe(status)
    expect(codesSent()).toHaveLength(sent)
    expect((await definite(startLater))!.text).toBe(answer!.text)
    expect(codesSent()).toHaveLength(sent)
    await expectMoney(2)

    expect(await verify({ verificationId: earlier.id }, earlier.code)).toMatchObject({ status: 404 })
    expect((await view(earlier.id)).status).toBe('superseded')
    if (sent === 1) {
      // A code that never arrived can be resent like any other.
      await allowResend()
      expect((await definite(() => post('resend', { to })))!.status).toBe(200)
      expect((await definite(startLater))!.text).toBe(answer!.text)
    }
    expect(await verify({ to }, lastCode())).toMatchObject({ verificationId: later.verificationId })
  })
})

describe('when a database query of a verification is lost and repeated', () => {
  test.each(['before', 'after'] as const)(
    'a start is made once if the query was lost %s it was executed',
    async when => {
      const lost = proxy.loseAt('accept_verifications', when)
      const [answer] = await Promise.all([definite(startLater), lost])
      const { verificationId } = JSON.parse(answer!.text) as VerificationAttempt
      expect(await settledMessage(verificationId)).toBe('sent')
      expect(codesSent()).toHaveLength(2)
      await expectMoney(2)
      expect(await verify({ to }, lastCode())).toMatchObject({ verificationId })
    },
  )

  test.each(['before', 'after'] as const)(
    'a resend is made once if the query was lost %s it was executed',
    async when => {
      await allowResend()
      const lost = proxy.loseAt('accept_resend', when)
      const [answer] = await Promise.all([post('resend', { to }), lost])
      expect(JSON.parse(answer!.text)).toMatchObject({ success: true, resendCount: 1 })
      await until(
        () => Promise.resolve(codesSent()),
        codes => codes.length === 2,
      )
      expect(await view(earlier.id)).toMatchObject({ status: 'pending', resendCount: 1 })
      await expectMoney(2)
      expect(await verify({ to }, lastCode())).toMatchObject({ verificationId: earlier.id })
    },
  )

  test.each(['before', 'after'] as const)(
    'a check counts once if the query was lost %s it was executed',
    async when => {
      const wrong = proxy.loseAt('check_codes', when)
      const [refused] = await Promise.all([post('verify', { to, code: wrongCode(earlier.code) }), wrong])
      expect(JSON.parse(refused!.text)).toMatchObject({ attemptsRemaining: 4 })
      const right = proxy.loseAt('check_codes', when)
      const [verified] = await Promise.all([post('verify', { to, code: earlier.code }), right])
      expect(JSON.parse(verified!.text)).toMatchObject({ success: true, status: 'verified' })
      expect(await view(earlier.id)).toMatchObject({ status: 'verified', attemptsRemaining: 4 })
    },
  )
})

describe('a check of a code that is killed', { timeout: 60_000 }, () => {
  test.each([
    ['before', { status: 'verified' }],
    // The success was not reported; the code is used all the same, and only once.
    ['after', { code: 'VERIFICATION_ALREADY_USED' }],
  ] as const)('%s it was executed uses the code once', async (when, then) => {
    const lost = proxy.loseAt('check_codes', when)
    const first = post('verify', { to, code: earlier.code })
    await killWhen(lost)
    expect(await first).toBeNull()
    expect(await verify({ to }, earlier.code)).toMatchObject(then)
    expect(await view(earlier.id)).toMatchObject({ status: 'verified', attemptsRemaining: 5 })
  })
})
