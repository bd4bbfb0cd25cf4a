import { describe, expect, test } from 'vitest'
import {
  type AttemptBucket,
  createAttempts,
  loginBuckets,
  operatorBucket,
} from '../../../src/core/people/attempts.ts'
import { createBrowsers } from '../../../src/core/people/browsers.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const EMAIL = 'owner@example.com'
const passes = (take: () => void): boolean => {
  try {
    take()
    return true
  } catch {
    return false
  }
}

describe('login guesses from many addresses', () => {
  /** Another address for each guess, as from a botnet. */
  const fromAll = (email: string, at: number) => loginBuckets(email, `203.0.${at >> 8}.${at & 255}`, null)

  test('do not lock the owner out of a browser in which they logged in before', () => {
    const attempts = createAttempts({ clock: createFakeClock() })
    const guesses = Array.from({ length: 300 }, (_, at) =>
      passes(() => attempts.take(...fromAll(EMAIL, at))),
    ).filter(passed => passed)
    expect(guesses).toHaveLength(100)
    const own = (browser: string | null) =>
      passes(() => attempts.take(...loginBuckets(EMAIL, '192.0.2.1', browser)))
    expect([own(null), own('laptop')]).toEqual([false, true])
    // Each known browser has its own limit.
    const mistakes = Array.from({ length: 20 }, () => own('laptop')).filter(passed => passed)
    expect(mistakes).toHaveLength(9)
    expect(own('phone')).toBe(true)
  })

  test('do not evict the attempt counter of a code from memory', () => {
    const attempts = createAttempts({ clock: createFakeClock() })
    const code: AttemptBucket = ['code', 'usr_1']
    while (passes(() => attempts.take(code)));
    for (let at = 0; at < 45_000; at++) passes(() => attempts.take(...fromAll(`nobody${at}`, at)))
    expect(passes(() => attempts.take(code))).toBe(false)
  })
})

describe('attempts that were no guesses', () => {
  test('do not evict the counter of a login that is being guessed', () => {
    const attempts = createAttempts({ clock: createFakeClock() })
    const guess = (at: number) =>
      passes(() => attempts.take(...loginBuckets(EMAIL, `2001:db8:${at}::1`, null)))
    for (let at = 0; at < 100; at++) expect(guess(at)).toBe(true)
    // As while too many passwords are being verified: each is refused at once, and given back.
    for (let at = 0; at < 21_000; at++) {
      const chances = loginBuckets(`nobody${at}@example.com`, `198.51.${at >> 8}.${at & 255}`, null)
      attempts.take(...chances)
      attempts.release(...chances)
    }
    expect(guess(100)).toBe(false)
  })
})

describe('the rate limit bucket of an address', () => {
  test.each([
    ['an IPv4 address', ['198.51.100.7', '::ffff:198.51.100.7', '198.51.100.7:4711', '198.51.100.7:50123']],
    [
      'an IPv6 network',
      ['2001:db8::1', '2001:db8::2:3', '[2001:db8::4]', '[2001:db8::5]:4711', '2001:DB8:0:0:9::'],
    ],
  ])('is the same for %s in all notations of proxies', (_, spellings) => {
    const places = spellings.map(ip => operatorBucket(ip)[1])
    expect(new Set(places).size).toBe(1)
    expect(operatorBucket('203.0.113.9:4711')[1]).not.toBe(places[0])
    expect(operatorBucket('[2001:db8:0:1::1]:4711')[1]).not.toBe(places[0])
  })
})

describe('the token of a browser', () => {
  const seal = createSeal(Buffer.alloc(32, 7), createRandom())
  const browsers = createBrowsers({ random: createRandom(), seal })

  test('belongs to one login, stays the same, and cannot be forged', () => {
    const mark = browsers.issueToken(EMAIL, null)
    expect(browsers.recognize(' OWNER@example.com', mark)).toBe(mark.split('.')[0])
    expect(browsers.issueToken(EMAIL, mark)).toBe(mark)
    expect(browsers.issueToken('other@example.com', mark)).not.toBe(mark)
    const [name, proof] = mark.split('.') as [string, string]
    const other = createBrowsers({
      random: createRandom(),
      seal: createSeal(Buffer.alloc(32, 8), createRandom()),
    })
    for (const [email, given] of [
      ['other@example.com', mark],
      [EMAIL, null],
      [EMAIL, ''],
      [EMAIL, name],
      [EMAIL, `${name}x.${proof}`],
      [EMAIL, `${name}.${proof.slice(1)}`],
      [EMAIL, other.issueToken(EMAIL, null)],
    ] as const) {
      expect(browsers.recognize(email, given), String(given)).toBeNull()
    }
  })
})
