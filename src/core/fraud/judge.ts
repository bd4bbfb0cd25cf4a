import type { FraudRule, FraudRules, GuardedType, RuleMode } from '../../contract/fraud.ts'
import { toMicros } from '../../lib/money.ts'
import type { GuardedSend } from './guard.ts'
import { ACCOUNT_SCOPE, addressOf, dayOf, nameOf, placesOf, type Scope, type ScopeKind } from './scopes.ts'
import type { Tallies, TallyKey } from './tallies.ts'
import { type Delta, HOUR_MS, highestShare, holdOf, type Tally, usualPerHour } from './tally.ts'

/** A rule that a send breaks. */
export type Breach = { rule: FraudRule; reason: string; retryAfterMs: number }

const DAY_MS = 24 * HOUR_MS
/** Pressure that goes by itself, an hour: what people who give up leave behind. */
const LEAKS: Record<ScopeKind, number> = { r4: 2, r5: 4, r6: 10, country: 10, ip: 0, spend: 0, account: 0 }
/** A wider range takes more, times the setting of the narrowest. */
const WIDTHS: Partial<Record<ScopeKind, number>> = { r4: 1, r5: 1.15, r6: 1.4 }
/** Of what a key usually has confirmed in an hour, so much may be under way at a time on top. */
const USUAL_HOURS = 3 / 60
/** A million numbers are a fair part of a small country: they are to blame only for at least so much of it. */
const BLAME = 0.5
/** Of its limit: a pressure that has come down so far by confirmed codes is none. */
const RELIEVED = 0.3
/** Before an account has any history: 14 of 20 codes are confirmed. */
const EXPECTED = { sends: 20, verified: 14 }
/** Traffic of which this part of the account's usual share is confirmed is as good as any. */
const HEALTHY = 0.4
const HEALTHY_BOUNDS = { least: 0.1, most: 0.4 }
/** Nothing changes by itself: whoever asks again today is told the same. */
const NEVER_MS = DAY_MS

export function keyOf(send: Pick<GuardedSend, 'accountId'>, scope: Scope, rules: FraudRules): TallyKey {
  const { sends, windowMinutes } = rules.clientIp
  const leak = scope.kind === 'ip' ? (sends * 60) / windowMinutes : LEAKS[scope.kind]
  return { accountId: send.accountId, key: scope.key, leak }
}

/** Of all codes of the account that had time to be: the share that was confirmed. */
function shareOf({ sends, verified }: Pick<Tally, 'sends' | 'verified'>): number {
  return Math.min(1, (verified + EXPECTED.verified) / (sends + EXPECTED.sends))
}

/** How many unconfirmed codes one confirmed code outweighs. */
export function creditOf(account: Readonly<Tally>): number {
  const healthy = HEALTHY * shareOf(account)
  return 1 / Math.min(Math.max(healthy, HEALTHY_BOUNDS.least), HEALTHY_BOUNDS.most)
}

/** The rules that a send breaks and that are not off, in the order of FRAUD_RULES; holds that it brings on are added. */
export function findBreaches(send: GuardedSend, rules: FraudRules, tallies: Tallies): Breach[] {
  return [
    ...outsideCountries(send, rules),
    ...wrongType(send, rules),
    ...inBadPlaces(send, rules, tallies),
    ...tooManyFrom(send, rules, tallies),
    ...overCap(send, rules, tallies),
  ].filter(({ rule }) => modeOf(rules, rule) !== 'off')
}

export function modeOf(rules: FraudRules, rule: FraudRule): RuleMode {
  return rules[rule].mode
}

function outsideCountries({ country, phoneType }: GuardedSend, rules: FraudRules): Breach[] {
  const { countries } = rules.allowedCountries
  if (countries === null || phoneType === null) return []
  if (country !== null && countries.includes(country)) return []
  const reason = `Codes go to ${countries.join(', ') || 'no country'} only, not to ${country ?? 'a number of no country'}.`
  return [{ rule: 'allowedCountries', reason, retryAfterMs: NEVER_MS }]
}

function wrongType({ phoneType }: GuardedSend, rules: FraudRules): Breach[] {
  const type = phoneType === 'unknown' ? 'unallocated' : phoneType
  if (type === null || !rules.numberType.types.includes(type as GuardedType)) return []
  const reason = `Codes do not go to numbers of this kind: ${type}.`
  return [{ rule: 'numberType', reason, retryAfterMs: NEVER_MS }]
}

function inBadPlaces(send: GuardedSend, rules: FraudRules, tallies: Tallies): Breach[] {
  const account = tallies.read(keyOf(send, ACCOUNT_SCOPE, rules))
  const places = placesOf(send.recipient, send.country)
  const country = places.find(place => place.kind === 'country')
  const around = country ? tallies.read(keyOf(send, country, rules)) : null
  return places.flatMap(place => judgePlace(send, place, { rules, tallies, account, around }))
}

type Surroundings = {
  rules: FraudRules
  tallies: Tallies
  account: Readonly<Tally>
  around: Readonly<Tally> | null
}

/** Each rule for itself: one that only watches must not stand in the way of one that blocks. */
function judgePlace(send: GuardedSend, place: Scope, surroundings: Surroundings): Breach[] {
  const { rules, tallies } = surroundings
  const key = keyOf(send, place, rules)
  const limits = { pressure: limitOf(place, rules, tallies.read(key)), sends: rules.conversion.sends }
  const asked: FraudRule[] = [place.kind === 'country' ? 'country' : 'prefix', 'conversion']
  return asked.flatMap(rule => {
    if (modeOf(rules, rule) === 'off') return []
    const tally = tallies.read(key)
    const held = isHeld(rule, tally, limits.pressure, send.nowMs)
    if (!held && !isBroken(rule, place, tally, limits.pressure, surroundings)) return []
    const hold: Delta = held ? { ...tally } : holdOf(tally, rule, limits)
    if (!held) tallies.add(key, hold)
    return [{ rule, reason: explain(rule, place), retryAfterMs: hold.heldUntilMs - send.nowMs }]
  })
}

/** Codes that are confirmed after all end a hold before its time. */
function isHeld(rule: FraudRule, tally: Readonly<Tally>, limit: number, nowMs: number): boolean {
  if (tally.heldBy !== rule || tally.heldUntilMs <= nowMs) return false
  if (rule === 'conversion') return true
  return (rule === 'country' ? tally.settled : tally.fresh) > RELIEVED * limit
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
  { rules, account, around }: Surroundings,
): boolean {
  if (rule === 'country') return tally.settled + 1 > limit
  if (rule === 'prefix') {
    return tally.fresh + 1 > limit && (kind !== 'r6' || tally.fresh >= BLAME * (around?.fresh ?? 0))
  }
  const { sends, share } = rules.conversion
  const rest = {
    sends: Math.max(0, account.sends - tally.sends),
    verified: Math.max(0, account.verified - tally.verified),
  }
  return tally.sends >= sends && highestShare(tally.verified, tally.sends) < share * shareOf(rest)
}

function explain(rule: FraudRule, place: Scope): string {
  const where = place.kind === 'country' ? nameOf(place) : `numbers that begin with ${nameOf(place)}`
  return rule === 'conversion'
    ? `Codes to ${where} are hardly ever confirmed.`
    : `More codes than usual go to ${where}, and nobody confirms them.`
}

function tooManyFrom(send: GuardedSend, rules: FraudRules, tallies: Tallies): Breach[] {
  const address = addressOf(send.clientIp)
  if (!address) return []
  const key = keyOf(send, address, rules)
  const over = tallies.read(key).fresh + 1 - rules.clientIp.sends
  if (over <= 0) return []
  const { sends, windowMinutes } = rules.clientIp
  const reason = `More than ${sends} codes within ${windowMinutes} minutes were asked for from ${nameOf(address)}.`
  return [{ rule: 'clientIp', reason, retryAfterMs: (over / key.leak) * HOUR_MS }]
}

function overCap(send: GuardedSend, rules: FraudRules, tallies: Tallies): Breach[] {
  const { dailyCap } = rules.spend
  if (dailyCap === null) return []
  const spent = tallies.read(keyOf(send, dayOf(send.nowMs), rules)).fresh
  if (spent + send.amount <= (toMicros(dailyCap) ?? 0)) return []
  const reason = `Codes of more than ${dailyCap} ${send.currency} would be sent on this day.`
  return [{ rule: 'spend', reason, retryAfterMs: DAY_MS - (send.nowMs % DAY_MS) }]
}
