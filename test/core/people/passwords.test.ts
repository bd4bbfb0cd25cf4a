import { describe, expect, test } from 'vitest'
import { createPasswords } from '../../../src/core/people/passwords.ts'
import { createRandom } from '../../../src/lib/random.ts'

const passwords = createPasswords({ random: createRandom() })

describe('a password', () => {
  test('is hashed with Argon2id and a salt of its own', async () => {
    const [one, other] = await Promise.all([passwords.hash('same'), passwords.hash('same')])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(one).not.toBe(other)
    expect(await passwords.verify('same', one)).toBe(true)
    expect(await passwords.verify('Same', one)).toBe(false)
  })

  test('is verified against a hash of the reference implementation', async () => {
    // By argon2 of the reference implementation: echo -n 'password' | argon2 somesalt -id -t 2 -k 65536 -p 1 -l 32
    const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect(await passwords.verify('password', reference)).toBe(true)
  })

  test('is the same in every Unicode encoding of its letters', async () => {
    expect(await passwords.verify('cafe\u0301', await passwords.hash('caf\u00e9'))).toBe(true)
  })

  test('without a stored hash is wrong after the same amount of work', async () => {
    const stored = await passwords.hash('real')
    /** In CPU time, which other load on the machine does not change. */
    const worked = async (hash: string | null) => {
      const before = process.cpuUsage()
      expect(await passwords.verify('guess', hash)).toBe(false)
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    // The minimum of several runs excludes other work of the process.
    const known: number[] = []
    const unknown: number[] = []
    for (let at = 0; at < 4; at++) {
      known.push(await worked(stored))
      unknown.push(await worked(null))
    }
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) / 3)
    expect(Math.min(...known)).toBeGreaterThan(Math.min(...unknown) / 3)
  })

  test('waits in a queue of limited length', async () => {
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => passwords.verify('x', null)))
    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    expect(refused).toHaveLength(40 - 2 - 30)
    expect(refused[0]!.reason).toMatchObject({ code: 'RATE_LIMITED' })
    expect(await passwords.verify('x', null)).toBe(false)
  })

  test('from a known browser waits in another queue, which goes first', async () => {
    const done: string[] = []
    const strangers = Array.from({ length: 32 }, () =>
      passwords.verify('x', null).then(() => done.push('stranger')),
    )
    const known = passwords.verify('x', null, true).then(() => done.push('known'))
    await Promise.all([...strangers, known])
    // It waits for the two that were running already, and a few that finish meanwhile, but not for all thirty.
    expect(done.indexOf('known')).toBeLessThan(16)
  })
})
