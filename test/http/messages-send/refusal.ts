import { expect } from 'vitest'
import { type Answer, faultPaths, type SendOptions, type TestAccount } from '../../support/app.ts'
import { lookUntil } from '../../support/look-until.ts'

let keys = 0

type Expected = { status: number; code: string; paths?: string[] }

/**
 * Sends with the live key and an idempotency key, and checks what holds for every
 * rejected request: the usual body, nothing stored but the response, no money
 * moved, and the same bytes on replay.
 */
export async function refused(
  account: TestAccount,
  body: unknown,
  expected: Expected,
  options: SendOptions = {},
): Promise<Answer> {
  return (await allRefused(account, [body], expected, options))[0]!
}

/** The same for each of several bodies, concurrently. */
export async function allRefused(
  account: TestAccount,
  bodies: readonly unknown[],
  expected: Expected,
  options: SendOptions = {},
): Promise<Answer[]> {
  const before = await account.footprint()
  const answers = await Promise.all(
    bodies.map(async body => {
      const keyed = { live: true, idempotencyKey: `refusal-${++keys}`, ...options }
      const answer = await account.send(body, keyed)
      expectRefusal(answer, expected)
      await replays(account, body, answer, keyed)
      return answer
    }),
  )
  expect(await account.footprint()).toEqual({ ...before, keys: before.keys + bodies.length })
  return answers
}

function expectRefusal(answer: Answer, { status, code, paths }: Expected): void {
  expect([answer.status, answer.body['code']], answer.text).toEqual([status, code])
  const names = Object.keys(answer.body).filter(name => name !== 'details')
  expect(names).toEqual(['success', 'code', 'error', 'requestId'])
  expect(answer.body).toMatchObject({ success: false, requestId: answer.headers.get('x-request-id') })
  expect(answer.headers.get('idempotency-replayed')).toBeNull()
  if (paths) expect(faultPaths(answer), answer.text).toEqual(paths)
}

/** Repeats the request and expects a replay with the same bytes. */
export async function replays(
  account: TestAccount,
  body: unknown,
  first: Answer,
  options: SendOptions,
): Promise<void> {
  const again = await account.send(body, options)
  expect([again.status, again.text]).toEqual([first.status, first.text])
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
  expect(again.headers.get('x-sandbox')).toBe(first.headers.get('x-sandbox'))
}

/** Expects a 400 that names exactly these fields. */
export function invalidAt(account: TestAccount, body: unknown, ...paths: string[]): Promise<Answer> {
  return refused(account, body, { status: 400, code: 'VALIDATION_ERROR', paths })
}

/** The same for each of several bodies. */
export async function allInvalidAt(
  account: TestAccount,
  bodies: readonly unknown[],
  path: string,
): Promise<Answer[]> {
  return allRefused(account, bodies, { status: 400, code: 'VALIDATION_ERROR', paths: [path] })
}

/** Expects a 400 for a body that cannot be parsed. Nothing is stored, so the key accepts a valid body afterwards. */
export async function unreadable(account: TestAccount, body: unknown): Promise<void> {
  const before = await account.footprint()
  const options = { idempotencyKey: `unreadable-${++keys}` }
  const answer = await account.send(body, options)
  expectRefusal(answer, { status: 400, code: 'VALIDATION_ERROR', paths: [''] })
  expect(await account.footprint()).toEqual(before)
  const mended = await account.send({ to: '+12025550100', text: 'Hello' }, options)
  expect([mended.status, mended.headers.get('idempotency-replayed')], mended.text).toEqual([200, null])
  // Waits until the outbox is as before, for later comparisons of footprints.
  await lookUntil(account.footprint, ({ outbox }) => outbox === before.outbox, 10_000)
}
