import type { FraudRules, FraudSettings, RuleMode } from '../../../../../sdk/index.ts'
import { amountOf } from '../../../parts/amount.ts'

export type RuleName = Exclude<keyof FraudRules, 'safe'>
type NumberField = {
  name: string
  label: string
  /** A share or an amount, edited as text. */
  amount?: true
}

/** The rules as a person reads them, and the numbers that each has. */
export const RULES: readonly {
  name: RuleName
  title: string
  text: string
  numbers: readonly NumberField[]
}[] = [
  {
    name: 'recipient',
    title: 'One recipient',
    text: 'Too many codes to one recipient, resends included.',
    numbers: [
      { name: 'sends', label: 'Codes' },
      { name: 'windowMinutes', label: 'Within minutes' },
    ],
  },
  {
    name: 'clientIp',
    title: 'One IP address',
    text: 'Too many codes requested from one IP address.',
    numbers: [
      { name: 'sends', label: 'Codes' },
      { name: 'windowMinutes', label: 'Within minutes' },
    ],
  },
  {
    name: 'prefix',
    title: 'A range of numbers',
    text: 'Too many unconfirmed codes to a range of 10,000 numbers, beyond its usual number.',
    numbers: [{ name: 'unverified', label: 'Unconfirmed codes' }],
  },
  {
    name: 'country',
    title: 'A country',
    text: 'Too many codes to one country that are not confirmed within two minutes, beyond its usual number.',
    numbers: [{ name: 'unverified', label: 'Unconfirmed codes' }],
  },
  {
    name: 'conversion',
    title: 'Conversion',
    text: 'A range of numbers whose conversion is below this share of the conversion of the rest of the account.',
    numbers: [
      { name: 'sends', label: 'Codes before the rule applies' },
      { name: 'share', label: 'Share, from 0 to 1', amount: true },
    ],
  },
  {
    name: 'numberType',
    title: 'Number types',
    text: 'Types of numbers on which nobody reads codes.',
    numbers: [],
  },
  {
    name: 'allowedCountries',
    title: 'Countries',
    text: 'Codes to any other country. Empty: every country is allowed.',
    numbers: [],
  },
  {
    name: 'spend',
    title: 'Daily cap',
    text: 'What an account spends on codes in a day, in its own currency. Empty: no cap.',
    numbers: [{ name: 'dailyCap', label: 'At most', amount: true }],
  },
]

export const MODES: readonly { value: RuleMode; label: string }[] = [
  { value: 'off', label: 'Off' },
  { value: 'monitor', label: 'Monitor: record it, but send' },
  { value: 'block', label: 'Block' },
]

const LISTS = { numberType: 'types', allowedCountries: 'countries' } as const

export type Rule = { mode: RuleMode | null; list: string[]; [number: string]: unknown }
export type Values = Record<RuleName, Rule> & { safe: string[] }

/** The form's values; empty for fields that are not set. */
export function toValues(settings: FraudSettings): Values {
  const rules = RULES.map(({ name, numbers }) => {
    const rule = (settings[name] ?? {}) as Record<string, unknown>
    const list = name in LISTS ? rule[LISTS[name as keyof typeof LISTS]] : null
    return [
      name,
      {
        mode: rule['mode'] ?? null,
        list: [...((list as string[] | null | undefined) ?? [])],
        ...Object.fromEntries(numbers.map(number => [number.name, written(number, rule[number.name] ?? '')])),
      },
    ]
  })
  return { ...Object.fromEntries(rules), safe: [...(settings.safe ?? [])] }
}

/** The edits of the form, which began with `before`, on top of the values of now. */
export function onTopOf(now: Values, before: Values, edited: Values): Values {
  const rules = RULES.map(({ name }) => {
    const fields = Object.keys(edited[name]).map(field => [
      field,
      fieldOnTopOf(now[name][field], before[name][field], edited[name][field]),
    ])
    return [name, Object.fromEntries(fields)]
  })
  return { ...Object.fromEntries(rules), safe: listOnTopOf(now.safe, before.safe, edited.safe) }
}

function fieldOnTopOf(now: unknown, before: unknown, edited: unknown): unknown {
  if (Array.isArray(edited)) return listOnTopOf(now as string[], before as string[], edited)
  return edited === before ? now : edited
}

function listOnTopOf(now: readonly string[], before: readonly string[], edited: readonly string[]): string[] {
  const kept = now.filter(each => edited.includes(each) || !before.includes(each))
  const added = edited.filter(each => !before.includes(each) && !kept.includes(each))
  return [...kept, ...added]
}

/** Converts the values for the API: empty ones are left out, so that the default applies, unless they were null. */
export function toSettings(values: Values, before: FraudSettings): FraudSettings {
  const rules = RULES.flatMap(({ name, numbers }) => {
    const { mode, list } = values[name]
    const rule = {
      ...noneOf(before[name]),
      ...(mode !== null && { mode }),
      ...Object.fromEntries(
        numbers
          .filter(number => values[name][number.name] !== '')
          .map(number => [number.name, read(number, values[name][number.name])]),
      ),
      ...(list.length > 0 && name in LISTS && { [LISTS[name as keyof typeof LISTS]]: list }),
    }
    return Object.keys(rule).length === 0 ? [] : [[name, rule]]
  })
  return { ...Object.fromEntries(rules), ...(values.safe.length > 0 && { safe: values.safe }) }
}

function written({ amount }: NumberField, value: unknown): unknown {
  return amount ? String(value) : value
}

function read({ amount }: NumberField, value: unknown): unknown {
  return amount ? amountOf(String(value)) : value
}

/** Null means no limit, or all countries: the form shows it as empty, and must keep it. */
function noneOf(rule: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value === null))
}

/** The form's field of a path of the API. */
export function fieldOf(path: string): string {
  return path.replace(/^safe\[\d+\]$/, 'safe').replace(/^(\w+)\.(?:types|countries)(?:\[\d+\])?$/, '$1.list')
}
