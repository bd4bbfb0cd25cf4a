import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { replays } from './refusal.ts'

const PHONE = '+12025550100'
const SILENT = '+12025550005'

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

function expectConflict(answer: Answer): void {
  expect([answer.status, answer.body['code']]).toEqual([409, 'IDEMPOTENCY_KEY_CONFLICT'])
  expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'))
  expect(answer.headers.get('idempotency-replayed')).toBeNull()
}

describe('an idempotency key that is used again', () => {
  const body = { to: PHONE, text: 'Hello' }
  const others = [
    { to: PHONE, text: 'Hello!' },
    { to: '+12025550101', text: 'Hello' },
    { to: PHONE, text: 'Hello', channel: 'local_sms' },
    { to: PHONE, text: 'Hello', unknown: 'field' },
    { to: PHONE, text: 'Hello', options: { metadata: 1 } },
    { to: PHONE },
    { to: 7 },
    '{"broken"',
    [],
  ]

  test.each([
    ['a success', body, 200],
    ['a refused body', { to: 'nobody', text: 'Hello' }, 400],
    ['an unknown template', { to: PHONE, template: { id: 'x' } }, 404],
  ])(
    'with another body after %s is a conflict, and does not change the stored response',
    async (name, first, status) => {
      const options = { live: true, idempotencyKey: `another body after ${name}` }
      const answer = await account.send(first, options)
      expect(answer.status).toBe(status)
      const before = await account.footprint()
      for (const other of others) expectConflict(await account.send(other, options))
      expect(await account.footprint()).toEqual(before)
      await replays(account, first, answer, options)
    },
  )

  test('with a number that differs in a digit that a double does not have is a conflict', async () => {
    const numbered = (order: string) =>
      `{"to":"${PHONE}","text":"Hello","options":{"metadata":{"order":${order}}}}`
    const options = { idempotencyKey: 'digits' }
    const first = await account.send(numbered('9007199254740993'), options)
    expectConflict(await account.send(numbered('9007199254740992'), options))
    await replays(account, numbered('9007199254740993.0'), first, options)
  })

  test('with a fraction that a double does not have is a conflict', async () => {
    const numbered = (amount: string) =>
      `{"to":"${PHONE}","text":"Hello","options":{"metadata":{"amount":${amount}}}}`
    const options = { idempotencyKey: 'fraction' }
    const first = await account.send(numbered('4503599627370497.25'), options)
    for (const other of ['4503599627370497', '4503599627370497.5']) {
      expectConflict(await account.send(numbered(other), options))
    }
    await replays(account, numbered('4503599627370497.250'), first, options)
  })

  test('with the same JSON in another spelling is a replay', async () => {
    const options = { idempotencyKey: 'spelling' }
    const first = await account.send(
      { to: PHONE, text: 'Hellö', options: { metadata: { a: 1, b: 100 } } },
      options,
    )
    for (const text of [
      `{"options":{"metadata":{"b":1e2,"a":1.0}},"text":"Hell\\u00f6","to":"${PHONE}"}`,
      ` {\n"to" : "${PHONE}", "text":"Hellö", "options": {"metadata": {"a": 1, "b": 100}}, "channel": null}`,
    ]) {
      await replays(account, text, first, options)
    }
  })

  test('is a replay wherever the key is given, and with empty or absent options', async () => {
    const key = 'wherever it stands'
    const first = await account.send({ ...body, options: {} }, { idempotencyKey: key })
    expect(first.status).toBe(200)
    for (const same of [
      { ...body, options: { idempotencyKey: key } },
      { ...body, idempotencyKey: key, options: { scheduleAt: null } },
      { ...body, idempotencyKey: key },
    ]) {
      await replays(account, same, first, {})
    }
  })

  test.each([
    ['in UTF-8, as curl sends it', 'Größe 漢字 😀', 'utf8'],
    ['in Latin-1, as fetch sends it', 'Größe', 'latin1'],
    ['in UTF-8 with a byte order mark', '\ufeffGröße', 'utf8'],
  ] as const)('is a replay with the key in the header %s, or in the body', async (_, key, encoding) => {
    const own = await app.createAccount()
    const bytes = Buffer.from(key, encoding).toString('latin1')
    const first = await own.send(body, { idempotencyKey: bytes })
    expect(first.status).toBe(200)
    await replays(own, { ...body, idempotencyKey: key }, first, {})
    await replays(own, body, first, { idempotencyKey: bytes })
    expect(await own.footprint()).toMatchObject({ messages: 1, keys: 1 })
  })
})

describe('twenty concurrent sends with the same idempotency key', () => {
  test('and the same body create one message; the others get a conflict or a replay', async () => {
    const own = await app.createAccount({ balance: 1 })
    const options = { live: true, idempotencyKey: 'race' }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => own.send({ to: PHONE, text: 'Hello' }, options)),
    )
    const [first, ...more] = answers.filter(answer => answer.status === 200)
    expect(first).toBeDefined()
    for (const answer of more) expect(answer.text).toBe(first!.text)
    expect(
      answers.filter(answer => answer.status === 200 && !answer.headers.has('idempotency-replayed')),
    ).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectConflict(answer)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(answer.body['retryAfterSeconds']).toBe(1)
    }
    expect(await own.footprint()).toMatchObject({ messages: 1, keys: 1 })
    expect(await own.wallet()).toMatchObject({ balance: 0.9921, captured: 0.0079 })
    expect(await own.inbox()).toHaveLength(1)
  })

  test('and different bodies create one message; the others get a conflict', async () => {
    const own = await app.createAccount()
    const sends = Array.from({ length: 20 }, (_, at) =>
      own.send({ to: PHONE, text: `Hello ${at}` }, { live: true, idempotencyKey: 'race of bodies' }),
    )
    const answers = await Promise.all(sends)
    expect(answers.filter(answer => answer.status === 200)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200)) expectConflict(answer)
    expect(await own.footprint()).toMatchObject({ messages: 1, keys: 1 })
  })

  test.each([
    ['an invalid body', { to: 'nobody', text: 'Hello' }, 400],
    ['an empty wallet', { to: PHONE, text: 'Hello' }, 402],
  ])('that are rejected for %s all have the same response, or a conflict', async (_, body, status) => {
    const own = await app.createAccount({ balance: 0 })
    const options = { live: true, idempotencyKey: 'race to a refusal' }
    const answers = await Promise.all(Array.from({ length: 20 }, () => own.send(body, options)))
    const refusals = answers.filter(answer => answer.status === status)
    expect(new Set(refusals.map(answer => answer.text)).size).toBe(1)
    expect(refusals.filter(answer => !answer.headers.has('idempotency-replayed'))).toHaveLength(1)
    for (const answer of answers.filter(each => each.status !== status)) expectConflict(answer)
    await replays(own, body, refusals[0]!, options)
    expect(await own.footprint()).toMatchObject({ messages: 0, keys: 1 })
  })
})

test('an idempotency key is a conflict with Retry-After while its first send is in progress, then a replay', async () => {
  const own = await app.createAccount()
  const body = { to: SILENT, text: 'Hello' }
  const options = { live: true, idempotencyKey: 'under way' }
  const first = own.send(body, options)
  await app.until(
    () => own.footprint(),
    ({ messages }) => messages === 1,
  )
  const meanwhile = await own.send(body, options)
  expectConflict(meanwhile)
  expect(meanwhile.headers.get('retry-after')).toBe('1')
  expect(meanwhile.body['retryAfterSeconds']).toBe(1)
  const different = await own.send({ ...body, text: 'Other' }, options)
  expectConflict(different)
  expect(different.headers.get('retry-after')).toBeNull()

  const answer = await app.during(first)
  expect([answer.status, answer.body['status']]).toEqual([200, 'queued'])
  await replays(own, body, answer, options)
  await app.until(
    () => own.message(messageIdOf(answer)),
    message => message.status === 'unknown',
  )
  await replays(own, body, answer, options)
  expect(await own.footprint()).toMatchObject({ messages: 1 })
})
