import { type Static, type TProperties, Type } from 'typebox'
import { CHANNELS } from './enums.ts'
import { IsoTime, nullable, oneOf, pageQuery, RecipientFilter } from './envelope.ts'

/** What a rule does with a send that breaks it: nothing, record it, or refuse it. */
export const RULE_MODES = ['off', 'monitor', 'block'] as const
export type RuleMode = (typeof RULE_MODES)[number]

/** In the order in which they are evaluated. */
export const FRAUD_RULES = [
  'allowedCountries',
  'numberType',
  'prefix',
  'country',
  'conversion',
  'clientIp',
  'spend',
  'recipient',
] as const
export type FraudRule = (typeof FRAUD_RULES)[number]

export const BLOCK_ACTIONS = ['blocked', 'monitored'] as const
export type BlockAction = (typeof BLOCK_ACTIONS)[number]

/** Number types that can be blocked; `unallocated` is a number outside all allocated ranges. */
export const GUARDED_TYPES = [
  'premium',
  'shared_cost',
  'unallocated',
  'voip',
  'toll_free',
  'fixed',
  'pager',
  'personal',
  'uan',
  'voicemail',
] as const
export type GuardedType = (typeof GUARDED_TYPES)[number]

const Mode = oneOf(RULE_MODES)
const Window = (description: string) => Type.Integer({ minimum: 1, maximum: 1_440, description })

/** The settings of each rule, with its limits. */
const RULES = {
  recipient: {
    mode: Mode,
    sends: Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Codes to one recipient, including resends',
    }),
    windowMinutes: Window('The period in which they count, in minutes'),
  },
  clientIp: {
    mode: Mode,
    sends: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: 'Codes requested from one client address',
    }),
    windowMinutes: Window('The period in which they count, in minutes'),
  },
  prefix: {
    mode: Mode,
    unverified: Type.Integer({
      minimum: 5,
      maximum: 10_000,
      description: 'Unconfirmed codes to a range of 10,000 numbers, beyond the usual number for that range',
    }),
  },
  country: {
    mode: Mode,
    unverified: Type.Integer({
      minimum: 5,
      maximum: 100_000,
      description:
        'Codes to one country that were not confirmed within two minutes, beyond the usual number for ' +
        'that country',
    }),
  },
  conversion: {
    mode: Mode,
    sends: Type.Integer({
      minimum: 10,
      maximum: 10_000,
      description: 'Number of codes from which a range is judged',
    }),
    share: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description:
        'A range is blocked if its rate of confirmed codes is less than this share of the rate in the ' +
        'rest of the account',
    }),
  },
  numberType: {
    mode: Mode,
    types: Type.Array(oneOf(GUARDED_TYPES), { maxItems: GUARDED_TYPES.length }),
  },
  allowedCountries: {
    mode: Mode,
    countries: nullable(
      Type.Array(Type.String({ minLength: 2, maxLength: 2 }), {
        maxItems: 300,
        description: 'ISO 3166-1 alpha-2; null for all',
      }),
    ),
  },
  spend: {
    mode: Mode,
    dailyCap: nullable(
      Type.Number({ minimum: 0, description: "In the account's currency, per UTC day; null for no cap" }),
    ),
  },
} as const satisfies Record<FraudRule, TProperties>

const Safe = Type.Array(Type.String({ minLength: 2, maxLength: 320 }), {
  maxItems: 1_000,
  description:
    'Never blocked: phone numbers in E.164, e-mail addresses, or number prefixes with a *, such as ' +
    '+4479*',
})

const some = <T extends TProperties>(fields: T) => Type.Optional(Type.Partial(Type.Object(fields)))

/** Fields that are present apply; the platform's settings apply for the others. */
export const FraudSettings = Type.Object({
  recipient: some(RULES.recipient),
  clientIp: some(RULES.clientIp),
  prefix: some(RULES.prefix),
  country: some(RULES.country),
  conversion: some(RULES.conversion),
  numberType: some(RULES.numberType),
  allowedCountries: some(RULES.allowedCountries),
  spend: some(RULES.spend),
  safe: Type.Optional(Safe),
})
export type FraudSettings = Static<typeof FraudSettings>

export const FraudRules = Type.Object({
  recipient: Type.Object(RULES.recipient),
  clientIp: Type.Object(RULES.clientIp),
  prefix: Type.Object(RULES.prefix),
  country: Type.Object(RULES.country),
  conversion: Type.Object(RULES.conversion),
  numberType: Type.Object(RULES.numberType),
  allowedCountries: Type.Object(RULES.allowedCountries),
  spend: Type.Object(RULES.spend),
  safe: Safe,
})
export type FraudRules = Static<typeof FraudRules>

export const FraudSettingsView = Type.Object({
  settings: FraudSettings,
  effective: FraudRules,
})
export type FraudSettingsView = Static<typeof FraudSettingsView>

/** A send that was refused, or in monitor mode would have been. */
export const BlockView = Type.Object({
  id: Type.String(),
  action: oneOf(BLOCK_ACTIONS, {
    description: '`monitored`: the send was not blocked, since the rule is in monitor mode',
  }),
  rule: oneOf(FRAUD_RULES),
  reason: Type.String(),
  to: Type.String(),
  country: nullable(Type.String()),
  channel: oneOf(CHANNELS),
  clientIp: nullable(Type.String()),
  retryAt: IsoTime,
  createdAt: IsoTime,
})
export type BlockView = Static<typeof BlockView>

export const BlockQuery = pageQuery({
  action: Type.Optional(oneOf(BLOCK_ACTIONS)),
  rule: Type.Optional(oneOf(FRAUD_RULES)),
  to: Type.Optional(RecipientFilter),
  country: Type.Optional(Type.String({ minLength: 2, maxLength: 2, description: 'ISO 3166-1 alpha-2' })),
  createdAfter: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601' })),
  createdBefore: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601' })),
})
export type BlockQuery = Static<typeof BlockQuery>
