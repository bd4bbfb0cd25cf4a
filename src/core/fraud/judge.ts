import type { FraudRule, FraudRules, GuardedType, RuleMode } from '../../contract/fraud.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../lib/durations.ts'
import { createGenerations } from '../../lib/generations.ts'
import type { AccountId } from '../../lib/ids.ts'
import { toMicros } from '../../lib/money.ts'
import type { Breach, GuardedSend } from './guard.ts'
import {
  ACCOUNT_SCOPE,
  dayScopeOf,
  ipScopeOf,
  labelOf,
  rangeOf,
  type Scope,
  type ScopeKind,
  scopesOf,
} from './scopes.ts'
import { type Tallies, type TallyKey, tallyKey } from './tallies.ts'
import { highestShare, holdOf, type Tally, usualPerHour } from './tally.ts'

/** How much pressure fades per hour by itself: some people never enter their code. */
const LEAKS: Record<ScopeKind, number> = { r4: 2, r5: 4, r6: 10, country: 10, ip: 0, spend: 0, account: 0 }
/** A wider range has a higher limit: a factor on the setting, which is for the narrowest range. */
const WIDTHS: Partial<Record<ScopeKind, number>> = { r4: 1, r5: 1.15, r6: 1.4 }
/** Below this share of its limit a key is calm (tallies.ts): a quarter on each of two nodes is half. */
const CALM_SHARE = 0.25
/** Factor on the sends that are needed before conversion is judged, for a country: a block there hits everybody in it. */
const COUNTRY_SENDS = 5
/** This part of the codes that a key usually has confirmed in an hour is added to its limit. */
const USUAL_HOURS = 3 / 60
/** A range of a million numbers may be much of a small country: it is blamed only for at least this share of its pressure. */
const MIN_BLAME_SHARE = 0.5
/** A hold ends early when confirmed codes have lowered the pressure to this share of its limit. */
const RELIEF_SHARE = 0.3
/** Assumed for an account without history: 14 of 20 codes are confirmed. */
const EXPECTED = { sends: 20, verified: 14 }
/** Traffic is healthy if its confirmed share is at least this part of the account's usual share. */
const HEALTHY = 0.4
const HEALTHY_BOUNDS = { least: 0.1, most: 0.4 }
const RANGE_RULES = ['prefix', 'conversion'] as const
const COUNTRY_RULES = ['country', 'conversion'] as const
/** `retryAfterMs` of rules whose verdict does not change by itself, such as a country that is not allowed. */
const NEVER_MS = DAY_MS
/** `retryAfterMs` where the limit is reached only with codes that may still be refused: each is decided by its own response. */
const UNDECIDED_MS = SECOND_MS

/** A scope with the key that it is counted by in one account. */
export type Place = Scope & { tally: TallyKey }

/** All keys by which one send is counted and judged. */
export type Keys = {
  /** Ranges, the narrowest first, and the country. */
  places: readonly Place[]
  account: TallyKey
}
export type SendKeys = Keys & { address: Place | null; day: TallyKey }

type Counted = Pick<GuardedSend, 'accountId' | 'recipient' | 'country'>

/**
 * A cache of keys, by range and day. Each send uses its keys many times and their names are long,
 * and most sends go to ranges that others went to.
 */
export type Keyring = {
  keysOf(code: Counted): Keys
  dayOf(code: Pick<GuardedSend, 'accountId' | 'nowMs'>): TallyKey
}

/** 1 KB each. */
const MAX_RANGES = 10_000
const MAX_ACCOUNTS = 5_000

export function createKeyring(): Keyring {
  const ranges = createGenerations<string, Keys>(MAX_RANGES)
  const days = createGenerations<AccountId, { from: number; key: TallyKey }>(MAX_ACCOUNTS)
  return {
    keysOf(code) {
      const { accountId, recipient, country } = code
      const name = `${accountId} ${country} ${rangeOf(recipient)}`
      const known = ranges.get(name)
      if (known) return known
      const places = scopesOf(recipient, country).map(scope => toPlace(accountId, scope, LEAKS[scope.kind]))
      const made = { places, account: tallyKey(accountId, ACCOUNT_SCOPE.key, LEAKS.account) }
      ranges.set(name, made)
      return made
    },
    dayOf({ accountId, nowMs }) {
      const from = nowMs - (nowMs % DAY_MS)
      const known = days.get(accountId)
      if (known?.from === from) return known.key
      const key = tallyKey(accountId, dayScopeOf(nowMs).key, LEAKS.spend)
      days.set(accountId, { from, key })
      return key
    },
  }
}

/** With a shared `keyring`, keys of earlier sends are used again. */
export function sendKeysOf(
  send: GuardedSend,
  { clientIp }: FraudRules,
  keyring: Keyring = createKeyring(),
): SendKeys {
  const { places, account } = keyring.keysOf(send)
  const address = ipScopeOf(send.clientIp)
  return {
    places,
    account,
    address: address && toPlace(send.accountId, address, (clientIp.sends * 60) / clientIp.windowMinutes),
    day: keyring.dayOf(send),
  }
}

function toPlace(accountId: AccountId, scope: Scope, leak: number): Place {
  return { ...scope, tally: tallyKey(accountId, scope.key, leak) }
}

/** The account's conversion: the share of its codes that was confirmed, of those that there was time to confirm. */
function shareOf({ sends, verified }: Pick<Tally, 'sends' | 'verified'>): number {
  return Math.min(1, (verified + EXPECTED.verified) / (sends + EXPECTED.sends))
}

/** How many unconfirmed codes one confirmed code outweighs. */
export function creditOf(account: Readonly<Tally>): number {
  const healthy = HEALTHY * shareOf(account)
  return 1 / Math.min(Math.max(healthy, HEALTHY_BOUNDS.least), HEALTHY_BOUNDS.most)
}

/** The result for nearly every send, shared. */
const NONE: readonly Breach[] = []

/**
 * The rules, except those that are off, that a send breaks, in the order of FRAUD_RULES. Adds the holds that follow,
 * but none for codes that may still be refused. Without `keys` only rules without counts are judged.
 */
export function findBreaches(
  send: GuardedSend,
  keys: SendKeys | null,
  rules: FraudRules,
  tallies: Tallies,
): readonly Breach[] {
  const byItself = join(countryBreaches(send, rules), numberTypeBreaches(send, rules))
  const byCounts = keys
    ? join(
        placeBreaches(send, keys, rules, tallies),
        join(clientIpBreaches(keys, rules, tallies), spendBreaches(send, keys, rules, tallies)),
      )
    : NONE
  const breaches = join(byItself, byCounts)
  return breaches.length === 0 ? NONE : breaches.filter(({ rule }) => modeOf(rules, rule) !== 'off')
}

function join(some: readonly Breach[], more: readonly Breach[]): readonly Breach[] {
  if (more.length === 0) return some
  return some.length === 0 ? more : [...some, ...more]
}

/** Rules that need counts. With all of them off nothing is counted, so a rule that is switched on again starts without history. */
const COUNTING = ['prefix', 'country', 'conversion', 'clientIp', 'spend'] as const

/** Whether any rule needs counts. */
export function isCounted(rules: FraudRules): boolean {
  return COUNTING.some(rule => modeOf(rules, rule) !== 'off')
}

export function modeOf(rules: FraudRules, rule: FraudRule): RuleMode {
  return rules[rule].mode
}

function countryBreaches({ country, phoneType }: GuardedSend, rules: FraudRules): readonly Breach[] {
  const { countries } = rules.allowedCountries
  if (countries === null || phoneType === null) return NONE
  if (country !== null && countries.includes(country)) return NONE
  const reason = `Codes are sent to ${countries.join(', ') || 'no country'} only, not to ${country ?? 'a number of no country'}.`
  return [{ rule: 'allowedCountries', reason, retryAfterMs: NEVER_MS }]
}

function numberTypeBreaches({ phoneType, simulated }: GuardedSend, rules: FraudRules): readonly Breach[] {
  const type = phoneType === 'unknown' ? 'unallocated' : phoneType
  if (type === null || !rules.numberType.types.includes(type as GuardedType)) return NONE
  // Numbers that are reserved for examples, such as +44 7700 900123, are what people try the sandbox with.
  if (type === 'unallocated' && simulated) return NONE
  const reason = `Codes are not sent to numbers of this kind: ${type}.`
  return [{ rule: 'numberType', reason, retryAfterMs: NEVER_MS }]
}

function placeBreaches(
  send: GuardedSend,
  { places, account }: Keys,
  rules: FraudRules,
  tallies: Tallies,
): readonly Breach[] {
  const country = places.find(place => place.kind === 'country')
  const context: JudgeContext = {
    nowMs: send.nowMs,
    rules,
    tallies,
    account: tallies.read(account),
    country: country ? tallies.read(country.tally) : null,
  }
  return places.reduce((found, place) => join(found, judgePlace(place, context)), NONE)
}

type JudgeContext = {
  nowMs: number
  rules: FraudRules
  tallies: Tallies
  account: Readonly<Tally>
  country: Readonly<Tally> | null
}

/** Judges each rule by itself: a breach in monitor mode must not hide one that blocks. */
function judgePlace(place: Place, context: JudgeContext): readonly Breach[] {
  const { nowMs, rules, tallies } = context
  const tally = tallies.read(place.tally)
  const limit = limitOf(place, rules, tally)
  tallies.setCalm(place.tally, isCalm(tally, limit, nowMs))
  let breaches = NONE
  for (const rule of place.kind === 'country' ? COUNTRY_RULES : RANGE_RULES) {
    if (modeOf(rules, rule) === 'off') continue
    const retryAfterMs = judgeRule(rule, place, tally, limit, context)
    if (retryAfterMs !== null) breaches = [...breaches, { rule, reason: explain(rule, place), retryAfterMs }]
  }
  return breaches
}

/** For how long the place breaks the rule, in ms; null if it does not. Adds the hold that follows. */
function judgeRule(
  rule: FraudRule,
  place: Place,
  tally: Readonly<Tally>,
  limit: number,
  context: JudgeContext,
): number | null {
  const { nowMs, rules, tallies } = context
  if (isHeld(rule, tally, limit, nowMs)) return tally.heldUntilMs - nowMs
  if (!isBroken(rule, place, tally, limit, context)) return null
  const decided = withoutUndecided(place, tally, context)
  if (!isBroken(rule, place, decided, limit, context)) return UNDECIDED_MS
  const hold = holdOf(tally, rule, { pressure: limit, sends: leastSends(place, rules) })
  if (!yieldsToHold(rule, tally, rules, nowMs)) {
    tallies.add(place.tally, hold)
    // Another node that does not know of it would add its own, which takes the same codes out of the tally once more.
    tallies.setCalm(place.tally, false)
  }
  return hold.heldUntilMs - nowMs
}

/** Only `fresh` counts codes before they are decided. */
function withoutUndecided(place: Place, tally: Readonly<Tally>, { tallies }: JudgeContext): Tally {
  return { ...tally, fresh: Math.max(0, tally.fresh - tallies.undecided(place.tally)) }
}

/** A key has one hold at a time: a rule in monitor mode never replaces the hold of a rule that blocks. */
function yieldsToHold(rule: FraudRule, tally: Readonly<Tally>, rules: FraudRules, nowMs: number): boolean {
  if (tally.heldBy === null || tally.heldUntilMs <= nowMs) return false
  return modeOf(rules, rule) === 'monitor' && modeOf(rules, tally.heldBy) === 'block'
}

function isCalm({ fresh, settled, heldUntilMs }: Readonly<Tally>, limit: number, nowMs: number): boolean {
  return heldUntilMs <= nowMs && Math.max(fresh, settled) < CALM_SHARE * limit
}

/** Confirmed codes may end a hold early (RELIEF_SHARE). */
function isHeld(rule: FraudRule, tally: Readonly<Tally>, limit: number, nowMs: number): boolean {
  if (tally.heldBy !== rule || tally.heldUntilMs <= nowMs) return false
  if (rule === 'conversion') return true
  return (rule === 'country' ? tally.settled : tally.fresh) > RELIEF_SHARE * limit
}

function limitOf(place: Scope, rules: FraudRules, tally: Readonly<Tally>): number {
  const width = WIDTHS[place.kind]
  const base = width === undefined ? rules.country.unverified : rules.prefix.unverified * width
  return base + usualPerHour(tally) * USUAL_HOURS
}

function isBroken(
  rule: FraudRule,
  { kind }: Scope,
  tally: Readonly<Tally>,
  limit: number,
  { rules, account, country }: JudgeContext,
): boolean {
  if (rule === 'country') return tally.settled + 1 > limit
  if (rule === 'prefix') {
    return (
      tally.fresh + 1 > limit && (kind !== 'r6' || tally.fresh >= MIN_BLAME_SHARE * (country?.fresh ?? 0))
    )
  }
  if (tally.sends < leastSends({ kind }, rules)) return false
  const rest = {
    sends: Math.max(0, account.sends - tally.sends),
    verified: Math.max(0, account.verified - tally.verified),
  }
  return highestShare(tally.verified, tally.sends) < rules.conversion.share * shareOf(rest)
}

/** How many codes must be counted before conversion is judged. */
function leastSends({ kind }: Pick<Scope, 'kind'>, { conversion }: FraudRules): number {
  return kind === 'country' ? conversion.sends * COUNTRY_SENDS : conversion.sends
}

function explain(rule: FraudRule, place: Scope): string {
  const where = place.kind === 'country' ? labelOf(place) : `numbers that begin with ${labelOf(place)}`
  return rule === 'conversion'
    ? `Codes to ${where} are hardly ever confirmed.`
    : `More codes than usual go to ${where}, and nobody confirms them.`
}

function clientIpBreaches({ address }: SendKeys, rules: FraudRules, tallies: Tallies): readonly Breach[] {
  if (!address) return NONE
  const over = tallies.read(address.tally).fresh + 1 - rules.clientIp.sends
  if (over <= 0) return NONE
  const { sends, windowMinutes } = rules.clientIp
  const reason = `The limit of codes asked for from ${labelOf(address)} is reached: ${sends} within ${windowMinutes} min.`
  return [{ rule: 'clientIp', reason, retryAfterMs: (over / address.tally.leak) * HOUR_MS }]
}

function spendBreaches(
  send: GuardedSend,
  { day }: SendKeys,
  rules: FraudRules,
  tallies: Tallies,
): readonly Breach[] {
  const { dailyCap } = rules.spend
  if (dailyCap === null) return NONE
  const spent = tallies.read(day).fresh
  // On a day beyond its cap, as after the cap was lowered, what costs nothing still passes.
  if (send.amount === 0 || spent + send.amount <= (toMicros(dailyCap) ?? 0)) return NONE
  const reason = `The codes of this day would cost more than the daily cap of ${dailyCap} ${send.currency}.`
  return [{ rule: 'spend', reason, retryAfterMs: DAY_MS - (send.nowMs % DAY_MS) }]
}
