import type { FraudRules } from '../../contract/fraud.ts'
import type { Clock } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { Blocks } from './blocks.ts'
import type { Breach, Guard, GuardedCheck, GuardedSend, GuardVerdict } from './guard.ts'
import {
  creditOf,
  findBreaches,
  isCounted,
  type Keys,
  keysOf,
  modeOf,
  type SendKeys,
  sendKeysOf,
} from './judge.ts'
import { createMaturing } from './maturing.ts'
import type { RuleBook } from './rule-book.ts'
import { ACCOUNT_SCOPE } from './scopes.ts'
import { isSafe } from './settings.ts'
import { type Tallies, type TallyKey, tallyKey } from './tallies.ts'
import type { Turn } from './turn-store.ts'
import type { Turns } from './turns.ts'

export type GuardDeps = {
  clock: Clock
  rules: Pick<RuleBook, 'rulesFor'>
  tallies: Tallies
  turns: Turns
  blocks: Pick<Blocks, 'record'>
}

/** The guard, and what it must do every second: tell the other nodes what this one counted, and hear of theirs. */
export type WorkingGuard = Guard & { round(): Promise<void> }

/** What it was counted by, when it took its turn, and which rules would have stopped it if they did more than watch. */
type Counted = { keys: SendKeys | null; turnAtMs: number | null; watched: readonly Breach[] }

/** `late`: it had its turns already; `turnAtMs`: as which one it stands among them. */
type Turned = { late: Breach | null; turnAtMs: number | null }
const NO_TURN: Turned = { late: null, turnAtMs: null }

const PASS: GuardVerdict = { verdict: 'pass' }
const MINUTE_MS = 60_000

export function createGuard({ clock, rules: book, tallies, turns, blocks }: GuardDeps): WorkingGuard {
  const maturing = createMaturing()
  /** Sends that passed, until it is told, by the same object, what becomes of them. */
  const counted = new Map<GuardedSend, Counted>()

  async function judge(send: GuardedSend): Promise<GuardVerdict> {
    if (send.mode === 'test') return PASS
    const found = book.rulesFor(send.accountId)
    // Each pause that nothing asks for costs what judging does.
    const rules = found instanceof Promise ? await found : found
    if (isSafe(rules.safe, send.recipient)) return PASS
    const keys = isCounted(rules) ? sendKeysOf(send, rules) : null
    const loading = keys && tallies.ready(send.accountId)
    if (loading) await loading
    // Without a pause from here until it is counted: of those who ask at once each sees the ones before it.
    const breaches = findBreaches(send, keys, rules, tallies)
    const stopped = breaches.find(({ rule }) => modeOf(rules, rule) === 'block')
    if (stopped) return { verdict: 'block', ...stopped }
    count(send, keys, 1)
    const { late, turnAtMs } = await takeTurn(send, rules, keys)
    if (late && rules.recipient.mode === 'block') {
      count(send, keys, -1)
      return { verdict: 'block', ...late }
    }
    const watched = late ? [...breaches, late] : breaches
    if (keys || turnAtMs !== null || watched.length > 0) counted.set(send, { keys, turnAtMs, watched })
    return PASS
  }

  /** What is asked for is under way: it weighs at once. */
  function count(send: GuardedSend, keys: SendKeys | null, weight: 1 | -1): void {
    if (!keys) return
    for (const { tally } of keys.places) tallies.add(tally, { fresh: weight })
    if (keys.address) tallies.add(keys.address.tally, { fresh: weight })
    if (send.amount > 0) tallies.add(keys.day, { fresh: weight * send.amount })
  }

  /** What it asks for weighs no more where it cannot be told whether there is a turn. */
  function takeTurn(send: GuardedSend, rules: FraudRules, keys: SendKeys | null): Turned | Promise<Turned> {
    const { mode, sends, windowMinutes } = rules.recipient
    if (mode === 'off') return NO_TURN
    return turns.take(send, { sends, windowMinutes, strict: mode === 'block' }).then(
      turn => turnedBy(turn, send, rules),
      error => {
        count(send, keys, -1)
        throw error
      },
    )
  }

  function sent(send: GuardedSend): void {
    const known = takeOut(send)
    if (!known) return
    if (known.keys) {
      for (const key of judgedOf(known.keys)) maturing.note(key, send.nowMs, clock.now(), 'sends')
    }
    for (const breach of known.watched) void blocks.record(send, breach, 'monitored')
  }

  function dropped(send: GuardedSend): void {
    const known = takeOut(send)
    if (!known) return
    count(send, known.keys, -1)
    if (known.turnAtMs !== null) turns.giveBack(send, known.turnAtMs)
  }

  function takeOut(send: GuardedSend): Counted | undefined {
    const known = counted.get(send)
    counted.delete(send)
    return known
  }

  function verified(check: GuardedCheck): void {
    if (check.mode === 'test') return
    const rules = book.rulesFor(check.accountId)
    if (!(rules instanceof Promise)) confirm(check, rules)
    else void rules.then(known => confirm(check, known)).catch(() => {})
  }

  function confirm(check: GuardedCheck, rules: FraudRules): void {
    if (!isCounted(rules) || isSafe(rules.safe, check.recipient)) return
    const keys = keysOf(check)
    const credit = creditOf(tallies.read(keys.account))
    const [sentAtMs, nowMs] = [timeOf(check.verificationId), clock.now()]
    for (const key of judgedOf(keys)) {
      tallies.add(key, { fresh: -credit })
      maturing.note(key, sentAtMs, nowMs, 'verified')
    }
  }

  /** There was time to confirm these: now they count. */
  function ripen(): void {
    for (const { sends, verified, ...key } of maturing.take(clock.now())) {
      const account = tallies.read(tallyKey(key.accountId, ACCOUNT_SCOPE.key, 0))
      tallies.add(key, { sends, verified, settled: sends - verified * creditOf(account) })
    }
  }

  return {
    judge,
    blocked: (send, breach) => blocks.record(send, breach, 'blocked'),
    sent,
    dropped,
    verified,
    async round() {
      ripen()
      await tallies.fold()
    },
  }
}

function turnedBy(turn: Turn, { nowMs }: GuardedSend, rules: FraudRules): Turned {
  const { sends, windowMinutes } = rules.recipient
  const turnAtMs = turn.taken ? turn.atMs : null
  if (turn.taken && turn.turns <= sends) return { late: null, turnAtMs }
  const retryAfterMs = turn.taken ? windowMinutes * MINUTE_MS : turn.freeAtMs - nowMs
  const reason = `More than ${sends} codes to this recipient within ${windowMinutes} minutes.`
  return { late: { rule: 'recipient', reason, retryAfterMs: Math.max(retryAfterMs, 1) }, turnAtMs }
}

/** What is judged by how many of its codes are confirmed. */
function judgedOf({ places, account }: Keys): TallyKey[] {
  return [...places.map(({ tally }) => tally), account]
}
