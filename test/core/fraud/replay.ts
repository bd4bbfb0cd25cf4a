import type { FraudRules } from '../../../src/contract/fraud.ts'
import { createGuard } from '../../../src/core/fraud/create-guard.ts'
import type { GuardedSend, Turn } from '../../../src/core/fraud/guard.ts'
import { DEFAULT_RULES } from '../../../src/core/fraud/settings.ts'
import { createTallies } from '../../../src/core/fraud/tallies.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { type AccountId, createIds, type Id } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { type Ask, START_MS } from './traffic.ts'

export type Replayed = {
  honest: number
  honestBlocked: number
  /** Codes of the attack that were sent. */
  pumped: number
  attacks: number
  rules: Record<string, number>
}

const ACCOUNT: AccountId = 'acc_01ky0000000000000000000000'
const ROUND_EVERY_MS = 1_000

/** Runs traffic through a guard in order of time: each request, each confirmation, and a round a second. */
export async function replay(asks: readonly Ask[], rules: FraudRules = DEFAULT_RULES): Promise<Replayed> {
  let nowMs = START_MS
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs - START_MS, after: () => () => {} }
  const ids = createIds(clock, createRandom())
  const result: Replayed = { honest: 0, honestBlocked: 0, pumped: 0, attacks: 0, rules: {} }
  const turns = turnsInMemory()
  const guard = createGuard({
    clock,
    rules: { rulesFor: () => rules },
    // A single node, which shares nothing with others.
    tallies: createTallies({
      clock,
      random: createRandom(),
      store: {
        fold: async () => [],
        changes: async () => ({ rows: [], asOfMs: null, more: false }),
        load: async () => ({ rows: [], hasFold: false }),
      },
    }),
    blocks: {
      async record(_, { rule }, action) {
        if (action === 'blocked') result.rules[rule] = (result.rules[rule] ?? 0) + 1
      },
    },
  })

  async function send(ask: Ask): Promise<boolean> {
    const guarded: GuardedSend = {
      accountId: ACCOUNT,
      mode: 'live',
      recipient: ask.recipient,
      country: ask.country,
      phoneType: ask.phoneType,
      channel: 'int_sms',
      simulated: false,
      clientIp: null,
      amount: 50_000,
      currency: 'USD',
      nowMs,
    }
    const verdict = await guard.judge(guarded)
    if (verdict.verdict === 'block') {
      await guard.blocked(guarded, verdict)
      return false
    }
    const freeAtMs = turns.take(verdict.turn!, nowMs)
    if (freeAtMs !== null) {
      await guard.blocked(guarded, guard.refuseLate(guarded, freeAtMs))
      return false
    }
    const verificationId = ids.next('ver')
    guard.sent(guarded, false)
    if (ask.confirmedAtMs !== null) insert(later, { atMs: ask.confirmedAtMs, ask, verificationId })
    return true
  }

  /** Confirmations to come, the latest first. */
  const later: Later[] = []
  let roundMs = nowMs

  /** Makes the confirmations up to that time. */
  async function passUntil(untilMs: number): Promise<void> {
    while (later.length > 0 && later.at(-1)!.atMs <= untilMs) {
      const { atMs, ask, verificationId } = later.pop()!
      await moveTo(atMs)
      guard.verified({ ...ask, accountId: ACCOUNT, verificationId, mode: 'live', nowMs })
    }
    await moveTo(untilMs)
  }

  /** Runs at most one round, since further ones would have nothing to do. */
  async function moveTo(atMs: number): Promise<void> {
    nowMs = atMs
    if (nowMs - roundMs < ROUND_EVERY_MS) return
    roundMs = nowMs
    await guard.round()
  }

  for (const ask of [...asks].sort((one, other) => one.atMs - other.atMs)) {
    await passUntil(ask.atMs)
    const passed = await send(ask)
    if (ask.honest) {
      result.honest++
      if (!passed) result.honestBlocked++
    } else {
      result.attacks++
      if (passed) result.pumped++
    }
  }
  return result
}

type Later = { atMs: number; ask: Ask; verificationId: Id<'ver'> }

/** Most confirmations are soon, so their place is near the end. */
function insert(later: Later[], one: Later): void {
  let at = later.length
  while (at > 0 && later[at - 1]!.atMs < one.atMs) at--
  later.splice(at, 0, one)
}

/** Counts turns in memory, as the database does (test/core/verification/turns.test.ts). `take` returns null, or when a turn is free again. */
function turnsInMemory() {
  const sends = new Map<string, number[]>()
  return {
    take({ person, sends: most, windowMinutes }: Turn, nowMs: number): number | null {
      const windowMs = windowMinutes * 60_000
      const recent = (sends.get(person) ?? []).filter(atMs => atMs > nowMs - windowMs)
      if (recent.length >= most) return recent.at(-most)! + windowMs
      sends.set(person, [...recent, nowMs])
      return null
    },
  }
}
