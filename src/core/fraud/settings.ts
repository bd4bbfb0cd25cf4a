import { readAmount } from '../../contract/amount.ts'
import { checkCountry } from '../../contract/country-currency.ts'
import { createFaults } from '../../contract/faults.ts'
import { FRAUD_RULES, type FraudRules, type FraudSettings } from '../../contract/fraud.ts'
import { addressKeyOf } from '../consent/address.ts'

/** The rules unless the platform's or the account's settings change them. */
export const DEFAULT_RULES: FraudRules = {
  recipient: { mode: 'block', sends: 5, windowMinutes: 10 },
  clientIp: { mode: 'block', sends: 30, windowMinutes: 10 },
  prefix: { mode: 'block', unverified: 30 },
  country: { mode: 'block', unverified: 150 },
  conversion: { mode: 'block', sends: 30, share: 0.33 },
  numberType: { mode: 'block', types: ['premium', 'shared_cost', 'unallocated'] },
  allowedCountries: { mode: 'block', countries: null },
  spend: { mode: 'block', dailyCap: null },
  safe: [],
}

/** `below` with the settings applied over it; lists of safe recipients are joined. */
export function rulesOf(below: FraudRules, settings: FraudSettings | null): FraudRules {
  if (!settings) return below
  const rules: Record<string, unknown> = { safe: [...new Set([...below.safe, ...(settings.safe ?? [])])] }
  for (const rule of FRAUD_RULES) rules[rule] = { ...below[rule], ...settings[rule] }
  return rules as FraudRules
}

/** A phone in E.164, a prefix of phones with `*`, or an e-mail address. */
const SAFE = /^(\+[1-9][0-9]{0,13}\*|\+[1-9][0-9]{4,14}|[^\s@*]+@[^\s@*]+)$/

/** Checks that the schema cannot express. Throws a VALIDATION_ERROR that names every field at fault. */
export function checkSettings(settings: FraudSettings): void {
  const faults = createFaults()
  settings.safe?.forEach((each, at) => {
    if (!SAFE.test(each)) {
      faults.add(
        `safe[${at}]`,
        'must be a phone number in E.164, the beginning of one followed by *, or an e-mail address',
      )
    }
  })
  settings.allowedCountries?.countries?.forEach((country, at) => {
    checkCountry(country, `allowedCountries.countries[${at}]`, faults)
  })
  const cap = settings.spend?.dailyCap
  if (typeof cap === 'number') readAmount(cap, 'spend.dailyCap', 0, faults)
  faults.check()
}

/** Whether the recipient is on the safe list, which exempts it from all rules. */
export function isSafe(safe: readonly string[], recipient: string): boolean {
  if (safe.length === 0) return false
  const key = addressKeyOf(recipient)
  return safe.some(each =>
    each.endsWith('*') ? recipient.startsWith(each.slice(0, -1)) : addressKeyOf(each) === key,
  )
}
