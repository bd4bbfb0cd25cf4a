import type { QuietHoursView, VerificationSettingsUpdate } from '../../contract/account.ts'
import type { AccountCreate, AccountUpdate, PhoneInput, PlanInput } from '../../contract/admin.ts'
import type { PlanPool } from '../../contract/caller.ts'
import { checkCountry, checkCurrency } from '../../contract/country-currency.ts'
import type { Channel } from '../../contract/enums.ts'
import type { Faults } from '../../contract/faults.ts'
import type { Phones } from '../../lib/phone.ts'
import { parseMinute } from '../../lib/quiet-hours.ts'
import { type AccountFields, DEFAULT_VERIFICATION, type PlanRow } from './store.ts'

/** The row of a new account: the input, with the plan's values where the input has none. */
export function newAccountFields(
  input: AccountCreate,
  plan: PlanRow,
  phones: Phones,
  faults: Faults,
): AccountFields {
  checkCountry(input.homeCountry, 'homeCountry', faults)
  checkCurrency(input.currency, 'currency', faults)
  return {
    name: input.name,
    status: 'active',
    homeCountry: input.homeCountry,
    currency: input.currency,
    ...checkVerified(readPhone(input.phone?.number, phones, faults), input.phone, false, faults),
    ...parseQuietHours(input.quietHours ?? null, faults),
    verification: mergeVerificationSettings(null, input.verification),
    ...planFields(input.plan ?? {}, plan),
  }
}

/** The row after an update. `plan`: another plan, whose values apply where the input has none; null to keep the present ones. */
export function updatedAccountFields(
  before: AccountFields,
  input: AccountUpdate,
  plan: PlanRow | null,
  phones: Phones,
  faults: Faults,
): AccountFields {
  if (input.homeCountry !== undefined) checkCountry(input.homeCountry, 'homeCountry', faults)
  if (input.currency !== undefined) checkCurrency(input.currency, 'currency', faults)
  const number = input.phone?.number
  const phoneNumber = number === undefined ? before.phoneNumber : readPhone(number, phones, faults)
  return {
    name: input.name ?? before.name,
    status: input.status ?? before.status,
    homeCountry: input.homeCountry ?? before.homeCountry,
    currency: input.currency ?? before.currency,
    ...checkVerified(phoneNumber, input.phone, before.phoneVerified, faults),
    ...(input.quietHours === undefined ? quietOf(before) : parseQuietHours(input.quietHours, faults)),
    verification: mergeVerificationSettings(before.verification, input.verification),
    ...planFields(input.plan ?? {}, plan ?? planOf(before)),
  }
}

/** Refuses to verify a phone that has no number. A number that cannot be read is a fault already. */
function checkVerified(
  phoneNumber: string | null,
  input: PhoneInput | undefined,
  before: boolean,
  faults: Faults,
): Pick<AccountFields, 'phoneNumber' | 'phoneVerified'> {
  if (input?.verified && phoneNumber === null && input.number === undefined) {
    faults.add('phone.number', 'is required: a phone without a number cannot be verified')
  }
  return { phoneNumber, phoneVerified: input?.verified ?? before }
}

function readPhone(number: string | undefined, phones: Phones, faults: Faults): string | null {
  if (number === undefined) return null
  const phone = phones.parse(number)
  if (!phone) faults.add('phone.number', 'must be a phone number in E.164, such as +14155550100')
  return phone?.e164 ?? null
}

/** As minutes of the day; both null for no quiet hours. */
export function parseQuietHours(
  given: QuietHoursView | null,
  faults: Faults,
): Pick<AccountFields, 'quietStart' | 'quietEnd'> {
  if (given === null) return { quietStart: null, quietEnd: null }
  const [quietStart, quietEnd] = [parseMinute(given.start), parseMinute(given.end)]
  if (quietStart === quietEnd) faults.add('quietHours.end', 'must be another time than the start')
  return { quietStart, quietEnd }
}

/** The known settings of `given` over those before; unknown names are left out. A null resets all to the defaults. */
export function mergeVerificationSettings(
  before: AccountFields['verification'],
  given: VerificationSettingsUpdate | null | undefined,
): AccountFields['verification'] {
  if (given === undefined || given === null) return given === null ? null : before
  const { channels, ...rest } = given
  const known = Object.entries(rest).filter(([name]) => Object.hasOwn(DEFAULT_VERIFICATION, name))
  return { ...before, ...Object.fromEntries(known), ...(channels && { channels: [...new Set(channels)] }) }
}

function quietOf({ quietStart, quietEnd }: AccountFields) {
  return { quietStart, quietEnd }
}

function planFields(input: PlanInput, fallback: PlanRow) {
  return {
    planName: input.name ?? fallback.name,
    planStatus: input.status ?? fallback.status,
    allowsScheduling: input.allowsScheduling ?? fallback.allowsScheduling,
    bulkCeilingPerSecond: input.bulkCeilingPerSecond ?? fallback.bulkCeilingPerSecond,
    rateLimitPerSecond: input.rateLimitPerSecond ?? fallback.rateLimitPerSecond,
    verificationRateLimitPerSecond:
      input.verificationRateLimitPerSecond ?? fallback.verificationRateLimitPerSecond,
  }
}

function planOf(fields: AccountFields): PlanRow {
  return { ...fields, name: fields.planName, status: fields.planStatus }
}

/**
 * Gives pools their ids. A pool with the same channels as an existing one keeps its id, and so
 * its usage of this month, even if its limit changes. Any other pool starts unused under a new id,
 * above `lastId`, the highest id that the account ever had: what messages of a removed pool used
 * is thus never given back to another pool.
 */
export function assignPools(
  wanted: readonly { channels: readonly Channel[]; limit: number }[],
  existing: readonly PlanPool[],
  lastId: number,
): PlanPool[] {
  const left = [...existing]
  let newest = lastId
  return wanted.map(({ channels, limit }) => {
    const unique = [...new Set(channels)]
    const at = left.findIndex(pool => sameChannels(pool.channels, unique))
    const id = at < 0 ? ++newest : left.splice(at, 1)[0]!.id
    return { id, channels: unique, limit }
  })
}

function sameChannels(one: readonly Channel[], other: readonly Channel[]): boolean {
  return one.length === other.length && one.every(channel => other.includes(channel))
}
