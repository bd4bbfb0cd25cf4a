import { beforeEach, expect, test } from 'vitest'
import { createIntakeLimiter, type IntakeLimiter } from '../../../src/core/bulk/intake-limiter.ts'
import { type AccountId, createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock, type FakeClock, turn } from '../../support/fake-clock.ts'

const ids = createIds(createFakeClock(), createRandom())
let clock: FakeClock
let limiter: IntakeLimiter

beforeEach(() => {
  clock = createFakeClock()
  limiter = createIntakeLimiter(clock)
})

const newAccount = (): AccountId => ids.next('acc')

/** Takes `count` places, all of which are free. */
function take(accountId: AccountId, count: number): Promise<(() => void)[]> {
  return Promise.all(Array.from({ length: count }, () => limiter.acquire(accountId)))
}

/** The names of those that got their places, in that order. */
function watch(places: Record<string, Promise<() => void>>): string[] {
  const entered: string[] = []
  for (const [name, place] of Object.entries(places))
    place.then(
      () => entered.push(name),
      () => entered.push(`${name} refused`),
    )
  return entered
}

test('an account has at most eight places, and the others are for other accounts', async () => {
  const [one, other] = [newAccount(), newAccount()]
  const [leave] = await take(one, 8)
  const entered = watch({ ninth: limiter.acquire(one), other: limiter.acquire(other) })
  await turn()
  expect(entered).toEqual(['other'])
  leave!()
  await turn()
  expect(entered).toEqual(['other', 'ninth'])
})

test('a place that becomes free goes to the first in line whose account has room', async () => {
  const [full, half, third] = [newAccount(), newAccount(), newAccount()]
  await take(full, 8)
  const [leave, leaveToo] = await take(half, 8)
  const entered = watch({
    full: limiter.acquire(full),
    third: limiter.acquire(third),
    half: limiter.acquire(half),
    last: limiter.acquire(third),
  })
  await turn()
  expect(entered).toEqual([])
  leave!()
  await turn()
  expect(entered).toEqual(['third'])
  leaveToo!()
  await turn()
  expect(entered).toEqual(['third', 'half'])
})

test('a request in line is refused after five seconds, and takes no place then', async () => {
  const account = newAccount()
  const [leave] = await take(account, 8)
  const entered = watch({ early: limiter.acquire(account) })
  await clock.advance(4_999)
  expect(entered).toEqual([])
  const late = limiter.acquire(account)
  await clock.advance(1)
  expect(entered).toEqual(['early refused'])
  const next = limiter.acquire(account)
  leave!()
  const leaveLate = await late
  // Its time in line would be over; that of the next one is not.
  await clock.advance(4_999)
  leaveLate()
  await next
})

test('64 requests of an account wait, and 256 of all; further ones are refused at once', async () => {
  const accounts = Array.from({ length: 5 }, newAccount)
  for (const account of accounts.slice(0, 2)) await take(account, 8)
  const refused = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 }
  const waiting: Promise<unknown>[] = []
  for (const account of accounts.slice(0, 4)) {
    for (let n = 0; n < 64; n++) waiting.push(limiter.acquire(account).catch(() => {}))
    if (account !== accounts[3]) await expect(limiter.acquire(account)).rejects.toMatchObject(refused)
  }
  await expect(limiter.acquire(accounts[4]!)).rejects.toMatchObject(refused)
})
