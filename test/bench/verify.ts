import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FRAUD_RULES, type FraudSettings } from '../../src/contract/fraud.ts'
import { createCodes } from '../../src/core/verification/codes.ts'
import { createSeal } from '../../src/infra/seal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type AccountId, createIds, type Id, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createBaseline } from './baseline.ts'
import { type Measured, measure, median } from './measure.ts'
import { type Figure, fixed, note, noteMeasured, perSecond } from './report.ts'
import { type System, startSystem } from './system.ts'
import { ripen } from './throughput.ts'

const ACCOUNTS = 100
const CONNECTIONS = 64
const ENDLESS = 10_000_000
const CODE = '314159'
const MASTER_KEY = randomBytes(32)
/** Checks per run, each of its own verification. */
const CHECKS = 24_000

/**
 * Codes sent compared with plain sends of the same run, checks per second, and whether the time of a check
 * reveals anything about the code.
 */
export async function measureVerification(quick: boolean): Promise<Figure[]> {
  const system = await startSystem({
    accounts: ACCOUNTS,
    env: { POSTHORN_MASTER_KEY: MASTER_KEY.toString('base64') },
  })
  try {
    await ripen(system, quick ? 128 : 1_024)
    await setGuard(system, 'off')
    const figures = [
      await measureSends(system, quick),
      ...(await measureChecks(system, quick)),
      await measureTiming(system, quick),
    ]
    await setGuard(system, 'block')
    const guarded = await measureSends(system, quick)
    note(`With the guard on, codes come to ${fixed(guarded.value, 2)} of plain sends: ${guarded.measured}`)
    return figures
  } finally {
    await system.stop()
  }
}

/**
 * Limits that the load does not reach. The fraud guard would block the load otherwise: its numbers are of one
 * range, and no code is confirmed.
 */
const OUT_OF_REACH: FraudSettings = {
  prefix: { unverified: 10_000 },
  country: { unverified: 100_000 },
  conversion: { sends: 10_000 },
}

async function setGuard({ admin }: System, mode: 'off' | 'block'): Promise<void> {
  const settings = Object.fromEntries(FRAUD_RULES.map(rule => [rule, { ...OUT_OF_REACH[rule], mode }]))
  await admin('PUT', '/fraud', settings)
}

/**
 * Short alternating runs, each of codes between two of plain sends: other load on the machine varies by the
 * second, and the median of many runs avoids it.
 */
async function measureSends(system: System, quick: boolean): Promise<Figure> {
  note(`Codes beside plain sends: ${CONNECTIONS} connections`)
  // Both for the same time, so that neither includes more compilation.
  await stretch(system, quick ? 1 : 8, false)
  await stretch(system, quick ? 1 : 8, true)
  const seconds = 2
  const plain = [await stretch(system, seconds, false)]
  const codes: Measured[] = []
  for (let number = 1; number <= (quick ? 1 : 12); number++) {
    codes.push(await stretch(system, seconds, true))
    plain.push(await stretch(system, seconds, false))
  }
  noteMeasured('plain', middleOf(plain))
  noteMeasured('codes', middleOf(codes))
  const shares = codes.map(
    (each, at) => (each.perSecond * 2) / (plain[at]!.perSecond + plain[at + 1]!.perSecond),
  )
  note(`  ${shares.map(share => fixed(share, 2)).join(' ')} of plain`)
  return {
    name: 'verification codes sent',
    measured: perSecond(median(codes.map(each => each.perSecond))),
    baseline: `${perSecond(median(plain.map(each => each.perSecond)))} plain`,
    value: median(shares),
    target: { least: 0.9 },
  }
}

/** The median of each figure. */
function middleOf(stretches: readonly Measured[]): Measured {
  const names = Object.keys(stretches[0]!) as (keyof Measured)[]
  return Object.fromEntries(names.map(name => [name, median(stretches.map(each => each[name]))])) as Measured
}

function stretch(system: System, seconds: number, codes: boolean): Promise<Measured> {
  return measure(system, {
    keys: system.keys,
    connections: CONNECTIONS,
    requests: ENDLESS,
    seconds,
    // So many that no recipient gets a second code in a run, which the guard limits.
    phones: 1_000_000,
    ...(codes && { verification: 'send' as const }),
  })
}

async function measureChecks(system: System, quick: boolean): Promise<Figure[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'posthorn-bench-'))
  try {
    const baseline = await createBaseline(system.socketDir, scratch, 'two updates')
    const rounds: { perSecond: number; p99Ms: number; baseline: number }[] = []
    note(`Checks of right codes: ${CONNECTIONS} connections; against ${baseline.name}`)
    for (let number = 1; number <= (quick ? 1 : 5); number++) {
      const count = quick ? CHECKS / 6 : CHECKS
      const before = await baseline.run(quick ? 1 : 3)
      const ids = await seedVerifications(system, count)
      const load = await system.load({
        keys: system.keys,
        connections: CONNECTIONS,
        requests: count,
        seconds: 60,
        verification: { ids, code: CODE },
      })
      if (load.firstFailure !== null) throw new Error(`a right code was refused: ${load.firstFailure}`)
      const after = await baseline.run(quick ? 1 : 3)
      const rate = count / load.seconds
      const reference = (before.perSecond + after.perSecond) / 2
      note(
        `  ${perSecond(rate).padStart(9)}  p50 ${fixed(load.p50Ms, 1)} ms  p99 ${fixed(load.p99Ms, 1)} ms` +
          `  baseline ${perSecond(reference)}`,
      )
      rounds.push({ perSecond: rate, p99Ms: load.p99Ms, baseline: reference })
    }
    const rate = median(rounds.map(round => round.perSecond))
    const reference = median(rounds.map(round => round.baseline))
    return [
      {
        name: 'codes checked a second',
        measured: perSecond(rate),
        baseline: `5,000/s, or 0.4 of ${perSecond(reference)}`,
        value: Math.max(rate / 5_000, median(rounds.map(round => round.perSecond / round.baseline)) / 0.4),
        target: { least: 1 },
      },
      {
        name: 'a check, 99 of 100',
        measured: `${fixed(median(rounds.map(round => round.p99Ms)), 1)} ms`,
        baseline: `${CONNECTIONS} connections`,
        value: median(rounds.map(round => round.p99Ms)),
        unit: ' ms',
        target: { most: 40 },
      },
    ]
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Stores started verifications whose code is known, of each account in turn, as the load takes the keys. */
async function seedVerifications({ db, ids: { accounts } }: System, count: number): Promise<Id<'ver'>[]> {
  const random = createRandom()
  const ids = createIds(systemClock, random)
  const codes = createCodes({ random, seal: createSeal(MASTER_KEY, random) })
  const made = Array.from({ length: count }, (_, at) => {
    const accountId = accounts[at % accounts.length] as AccountId
    const id = ids.next('ver')
    return {
      id,
      row: {
        account_id: toUuid(accountId),
        id: toUuid(id),
        recipient: `seed ${id}`,
        code_mark: `\\x${codes.digest({ accountId, mode: 'live' }, CODE).toString('hex')}`,
      },
    }
  })
  await db.query(
    `insert into verifications (account_id, id, live, validity_minutes, recipient, recipient_key, country, message_id,
       channel, started_at, expires_at, resend_at, code_hash, messages, started_with)
     select account_id, id, true, 10, recipient, recipient, 'DE', id, 'local_sms', now(), now() + interval '10 minutes',
       now() + interval '1 minute', sha256(code_mark || uuid_send(id)), array[id], 1
       from json_to_recordset($1) as i (account_id uuid, id uuid, recipient text, code_mark bytea)`,
    [JSON.stringify(made.map(({ row }) => row))],
  )
  return made.map(({ id }) => id)
}

/** Times wrong codes that begin with none to five of the right digits, one after the other, in turns. */
async function measureTiming(system: System, quick: boolean): Promise<Figure> {
  const rounds = quick ? 60 : 600
  const guesses = [0, 1, 2, 3, 4, 5].map(right => CODE.slice(0, right) + '0'.repeat(CODE.length - right))
  const took: number[][] = guesses.map(() => [])
  // Two of the first account for each round, since a verification allows fewer tries than a round has guesses.
  const ids = (await seedVerifications(system, rounds * 2 * ACCOUNTS)).filter((_, at) => at % ACCOUNTS === 0)
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < guesses.length; at++) {
      // Rotates the order, so that each guess comes first equally often.
      const guess = (at + round) % guesses.length
      const verificationId = ids[round * 2 + (at % 2)]!
      const startedMs = performance.now()
      const response = await system.call('POST', '/verification/verify', {
        verificationId,
        code: guesses[guess],
      })
      const text = await response.text()
      took[guess]!.push(performance.now() - startedMs)
      if (!text.includes('VERIFICATION_CODE_INVALID')) throw new Error(`not a wrong code: ${text}`)
    }
  }
  const medians = took.map(median)
  note(`Wrong codes by how many digits are right, ${rounds} of each: median of a check`)
  medians.forEach((ms, right) => {
    note(`  ${right} right  ${fixed(ms * 1_000, 0).padStart(6)} µs`)
  })
  const spread = (Math.max(...medians) - Math.min(...medians)) / median(medians)
  return {
    name: 'a check’s time by digits that are right',
    measured: `${medians.map(ms => fixed(ms * 1_000, 0)).join(' ')} µs`,
    baseline: 'none to five right; the spread',
    value: spread * 100,
    unit: ' %',
    target: { most: 5 },
  }
}
