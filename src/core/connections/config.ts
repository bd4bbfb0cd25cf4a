import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { Provider } from '../../channels/provider.ts'
import type { Faults } from '../../contract/faults.ts'
import { joinPath } from '../../lib/json-path.ts'

/** What of a provider is needed to store connections to it. */
export type ProviderFacts = Pick<Provider, 'key' | 'channels' | 'policy' | 'config'> & {
  secrets: readonly string[]
}
export type ProviderFactsByKey = ReadonlyMap<string, ProviderFacts>

export type Config = Record<string, unknown>

/** Describes the schema errors of a value, as for a request's body. */
export type Explain = (
  faults: ReturnType<typeof Value.Errors>,
  value: unknown,
  schema: TSchema,
) => { steps: (string | number)[]; message: string }[]

/** `before` with the given fields applied over it; null removes a field. */
export function mergeConfig(before: Config, given: Config): Config {
  const merged = { ...before, ...given }
  for (const key of Object.keys(merged)) if (merged[key] === null) delete merged[key]
  return merged
}

/**
 * The configuration without fields that are not in the provider's schema, so that a
 * misspelt secret is never stored in the clear. Adds faults with their path in
 * the body, such as `config.port`.
 */
export function checkConfig(schema: TSchema, config: Config, explain: Explain, faults: Faults): Config {
  const known = Value.Clean(schema, Value.Clone(config)) as Config
  const whole = withDefaults(schema, known)
  for (const { steps, message } of explain(Value.Errors(schema, whole), whole, schema))
    faults.add(joinPath(['config', ...steps]), message)
  return known
}

/** The configuration with the schema's defaults, as the provider gets it. */
export function withDefaults(schema: TSchema, config: Config): Config {
  return Value.Default(schema, Value.Clone(config)) as Config
}

/** Splits off the secrets, which are sealed, from the fields that may be shown. */
export function splitSecrets(config: Config, secrets: readonly string[]): { open: Config; secret: Config } {
  const entries = Object.entries(config)
  return {
    open: Object.fromEntries(entries.filter(([key]) => !secrets.includes(key))),
    secret: Object.fromEntries(entries.filter(([key]) => secrets.includes(key))),
  }
}
