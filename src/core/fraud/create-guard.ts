import type { FraudRules } from '../../contract/fraud.ts'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { timeOf } from '../../lib/ids.ts'
import { createShortLivedMap } from '../../lib/short-lived-map.ts'
import type { Blocks } from './blocks.ts'
import type { Breach, Guard, GuardedCheck, GuardedSend, GuardVerdict, Turn } from './guard.ts'
import {
  createKeyring,
  creditOf,
  findBreaches,
  isCounted,
  type Keys,
  modeOf,
  type SendKeys,
  sendKeysOf,
} from './judge.ts'
import { createMaturing } from './maturing.ts'
import type { RuleBook } from './rule-book.ts'
import { ACCOUNT_SCOPE, personOf } from './scopes.ts'
import { isSafe } from './settings.ts'
import { type Tallies, type TallyKey, tallyKey } from './tallies.ts'

export type GuardDeps = {
  clock: Clock
  rules: Pick<RuleBook, 'rulesFor'>
  tallies: Tallies
  blocks: Pick<Blocks, 'record'>
}

/** The guard. `round` runs every second, and exchanges counts with the other nodes. `stop` gives them all that is left. */
export type RunningGuard = Guard & { round(): Promise<void>; stop(): Promise<void> }

/** The keys that it was counted by, its turn, and the rules in monitor mode that it breaks. */
type Counted = { keys: SendKeys | null; turn: Turn | null; monitored: readonly Breach[] }

const PASS: GuardVerdict = { verdict: 'pass', turn: null }

export function createGuard({ clock, rules: book, tallies, blocks }: GuardDeps): RunningGuard {
  const keyring = createKeyring()
  const maturing = createMaturing()
  /** Sends that passed, until the caller says what became of them: it passes the same object again. */
  const counted = createShortLivedMap<GuardedSend, Counted>()

  /** Synchronous where all counts are in memory: awaiting would cost as much as judging. */
  function judge(send: GuardedSend): GuardVerdict | Promise<GuardVerdict> {
    if (send.mode === 'test') return PASS
    const rules = book.rulesFor(send.accountId)
    return rules instanceof Promise ? rules.then(found => judgeBy(found, send)) : judgeBy(rules, send)
  }

  function judgeBy(rules: FraudRules, send: GuardedSend): GuardVerdict | Promise<GuardVerdict> {
    if (isSafe(rules.safe, send.recipient)) return PASS
    const keys = isCounted(rules) ? sendKeysOf(send, rules, keyring) : null
    const loading = keys && tallies.ready(send.accountId)
    return loading ? loading.then(() => judgeCounted(send, keys, rules)) : judgeCounted(send, keys, rules)
  }

  /** Synchronous, so that each of several concurrent sends is judged with those before it counted. */
  function judgeCounted(send: GuardedSend, keys: SendKeys | null, rules: FraudRules): GuardVerdict {
    const watched = findBreaches(send, keys, rules, tallies)
    const stopped = watched.find(({ rule }) => modeOf(rules, rule) === 'block')
    if (stopped) return { verdict: 'block', ...stopped }
    count(send, keys)
    const turn = turnOf(send, rules)
    if (!keys && !turn && watched.length === 0) return PASS
    counted.set(send, { keys, turn, monitored: watched })
    return { verdict: 'pass', turn }
  }

  /** Counts a send as soon as it passes, before it is accepted. */
  function count(send: GuardedSend, keys: SendKeys | null): void {
    if (!keys) return
    for (const { tally } of keys.places) tallies.addUndecided(tally)
    countDirectly(send, keys, 1)
  }

  /** A limit on these makes no hold, so the other nodes get them at once. */
  function countDirectly(send: GuardedSend, keys: SendKeys, weight: 1 | -1): void {
    if (keys.address) tallies.add(keys.address.tally, { fresh: weight })
    if (send.amount > 0) tallies.add(keys.day, { fresh: weight * send.amount })
  }

  function uncount(send: GuardedSend, keys: SendKeys | null): void {
    if (!keys) return
    for (const { tally } of keys.places) tallies.decide(tally, false)
    countDirectly(send, keys, -1)
  }

  function refuseLate(send: GuardedSend, freeAtMs: number): Breach {
    const known = removeCounted(send)
    if (!known?.turn) throw new Error('refuseLate() is only for sends that passed with a turn')
    uncount(send, known.keys)
    return limitBreach(known.turn, freeAtMs - send.nowMs)
  }

  function sent(send: GuardedSend, isMonitored: boolean): void {
    const known = removeCounted(send)
    if (!known) return
    if (known.keys) {
      const nowMs = clock.now()
      for (const { tally } of known.keys.places) {
        tallies.decide(tally, true)
        maturing.record(tally, send.nowMs, nowMs, 'sends')
      }
      maturing.record(known.keys.account, send.nowMs, nowMs, 'sends')
    }
    for (const breach of firstPerRule(known.monitored)) void blocks.record(send, breach, 'monitored')
    if (!isMonitored || !known.turn) return
    const breach = limitBreach(known.turn, known.turn.windowMinutes * MINUTE_MS)
    void blocks.record(send, breach, 'monitored')
  }

  function dropped(send: GuardedSend): void {
    const known = removeCounted(send)
    if (known) uncount(send, known.keys)
  }

  function removeCounted(send: GuardedSend): Counted | undefined {
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
    const keys = keyring.keysOf(check)
    const credit = creditOf(tallies.read(keys.account))
    const [sentAtMs, nowMs] = [timeOf(check.verificationId), clock.now()]
    for (const key of judgedOf(keys)) {
      tallies.shareEarly(key)
      tallies.add(key, { fresh: -credit })
      maturing.record(key, sentAtMs, nowMs, 'verified')
    }
  }

  /** Counts codes in `settled`, now that there was time to confirm them. */
  function countMatured(): void {
    for (const { key, sends, verified } of maturing.takeMatured(clock.now())) {
      const account = tallies.read(tallyKey(key.accountId, ACCOUNT_SCOPE.key, 0))
      tallies.add(key, { sends, verified, settled: sends - verified * creditOf(account) })
    }
  }

  return {
    judge,
    refuseLate,
    blocked: (send, breach) => blocks.record(send, breach, 'blocked'),
    sent,
    dropped,
    verified,
    async round() {
      countMatured()
      await tallies.fold()
    },
    async stop() {
      countMatured()
      await tallies.fold(true)
    },
  }
}

function turnOf({ recipient }: GuardedSend, { recipient: rule }: FraudRules): Turn | null {
  const { mode, sends, windowMinutes } = rule
  return mode === 'off'
    ? null
    : { person: personOf(recipient), sends, windowMinutes, strict: mode === 'block' }
}

function limitBreach({ sends, windowMinutes }: Turn, retryAfterMs: number): Breach {
  const reason = `The limit of codes to this recipient is reached: ${sends} within ${windowMinutes} min.`
  return { rule: 'recipient', reason, retryAfterMs: Math.max(retryAfterMs, 1) }
}

/** The keys that are judged by how many of their codes are confirmed. */
function judgedOf({ places, account }: Keys): TallyKey[] {
  return [...places.map(({ tally }) => tally), account]
}

/** One breach per rule: nested ranges may break the same rule, and the narrowest one is given as the reason. */
function firstPerRule(breaches: readonly Breach[]): Iterable<Breach> {
  const first = new Map<Breach['rule'], Breach>()
  for (const breach of breaches) if (!first.has(breach.rule)) first.set(breach.rule, breach)
  return first.values()
}
