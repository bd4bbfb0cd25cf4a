import type { FraudRules } from '../../contract/fraud.ts'
import type { Clock } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { Blocks } from './blocks.ts'
import type { Guard, GuardedCheck, GuardedSend, GuardVerdict } from './guard.ts'
import { type Breach, creditOf, findBreaches, keyOf, modeOf } from './judge.ts'
import { createMaturing } from './maturing.ts'
import type { RuleBook } from './rule-book.ts'
import { ACCOUNT_SCOPE, addressOf, dayOf, placesOf, type Scope } from './scopes.ts'
import { isSafe } from './settings.ts'
import type { Tallies } from './tallies.ts'
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

const PASS: GuardVerdict = { verdict: 'pass' }
const MINUTE_MS = 60_000

export function createGuard({ clock, rules: book, tallies, turns, blocks }: GuardDeps): WorkingGuard {
  const maturing = createMaturing()
  /** Sends that passed and were counted, by what rules; what becomes of them is told by the same object. */
  const counted = new WeakMap<GuardedSend, FraudRules>()

  async function judge(send: GuardedSend): Promise<GuardVerdict> {
    if (send.mode === 'test') return PASS
    const rules = await book.rulesFor(send.accountId)
    if (isSafe(rules.safe, send.recipient)) return PASS
    await tallies.ready(send.accountId)
    // Without a pause from here until it is counted: of those who ask at once each sees the ones before it.
    const breaches = findBreaches(send, rules, tallies)
    const stopped = breaches.find(({ rule }) => modeOf(rules, rule) === 'block')
    if (stopped) return stop(send, stopped)
    count(send, rules, 1)
    counted.set(send, rules)
    const late = await takeTurn(send, rules).catch(error => {
      forget(send, rules)
      throw error
    })
    if (late && rules.recipient.mode === 'block') {
      forget(send, rules)
      return stop(send, late)
    }
    await Promise.all(
      [...breaches, ...(late ? [late] : [])].map(each => blocks.record(send, each, 'monitored')),
    )
    return PASS
  }

  async function stop(send: GuardedSend, breach: Breach): Promise<GuardVerdict> {
    await blocks.record(send, breach, 'blocked')
    return { verdict: 'block', reason: breach.reason, retryAfterMs: breach.retryAfterMs }
  }

  /** What is asked for is under way: it weighs at once. */
  function count(send: GuardedSend, rules: FraudRules, weight: 1 | -1): void {
    for (const place of placesOf(send.recipient, send.country)) {
      tallies.add(keyOf(send, place, rules), { fresh: weight })
    }
    const address = addressOf(send.clientIp)
    if (address) tallies.add(keyOf(send, address, rules), { fresh: weight })
    if (send.amount > 0) tallies.add(keyOf(send, dayOf(send.nowMs), rules), { fresh: weight * send.amount })
  }

  function forget(send: GuardedSend, rules: FraudRules): void {
    counted.delete(send)
    count(send, rules, -1)
  }

  /** Null where it has one, or nobody minds. */
  async function takeTurn(send: GuardedSend, rules: FraudRules): Promise<Breach | null> {
    const { mode, sends, windowMinutes } = rules.recipient
    if (mode === 'off') return null
    const turn = await turns.take(send, { sends, windowMinutes, strict: mode === 'block' })
    if (turn.taken && turn.turns <= sends) return null
    const retryAfterMs = turn.taken ? windowMinutes * MINUTE_MS : turn.freeAtMs - send.nowMs
    const reason = `More than ${sends} codes to this recipient within ${windowMinutes} minutes.`
    return { rule: 'recipient', reason, retryAfterMs: Math.max(retryAfterMs, 1) }
  }

  function sent(send: GuardedSend): void {
    const rules = counted.get(send)
    if (!rules) return
    counted.delete(send)
    for (const scope of judgedOf(send))
      maturing.note(keyOf(send, scope, rules), send.nowMs, clock.now(), 'sends')
  }

  function dropped(send: GuardedSend): void {
    const rules = counted.get(send)
    if (!rules) return
    forget(send, rules)
    if (rules.recipient.mode !== 'off') turns.giveBack(send)
  }

  function verified(check: GuardedCheck): void {
    if (check.mode === 'test') return
    const rules = book.rulesFor(check.accountId)
    if (!(rules instanceof Promise)) confirm(check, rules)
    else void rules.then(known => confirm(check, known)).catch(() => {})
  }

  function confirm(check: GuardedCheck, rules: FraudRules): void {
    if (isSafe(rules.safe, check.recipient)) return
    const credit = creditOf(tallies.read(keyOf(check, ACCOUNT_SCOPE, rules)))
    const [sentAtMs, nowMs] = [timeOf(check.verificationId), clock.now()]
    for (const scope of judgedOf(check)) {
      const key = keyOf(check, scope, rules)
      tallies.add(key, { fresh: -credit })
      maturing.note(key, sentAtMs, nowMs, 'verified')
    }
  }

  /** There was time to confirm these: now they count. */
  function ripen(): void {
    for (const { sends, verified, ...key } of maturing.take(clock.now())) {
      const account = tallies.read({ ...key, key: ACCOUNT_SCOPE.key, leak: 0 })
      tallies.add(key, { sends, verified, settled: sends - verified * creditOf(account) })
    }
  }

  return {
    judge,
    sent,
    dropped,
    verified,
    async round() {
      ripen()
      await tallies.fold()
    },
  }
}

/** What is judged by how many of its codes are confirmed. */
function judgedOf({ recipient, country }: { recipient: string; country: string | null }): Scope[] {
  return [...placesOf(recipient, country), ACCOUNT_SCOPE]
}
