import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { Provider } from '../../channels/provider.ts'
import type { Faults } from '../../contract/faults.ts'
import { joinPath } from '../../lib/json-path.ts'

/** What has to be known of a provider to keep connections to it. */
export type ProviderFacts = Pick<Provider, 'key' | 'channels' | 'policy' | 'config'> & {
  secrets: readonly string[]
}
export type ProviderFactsByKey = ReadonlyMap<string, ProviderFacts>

export type Config = Record<string, unknown>

/** Tells the faults of a value by its schema as they are told of a request's body. */
export type Explain = (
  faults: ReturnType<typeof Value.Errors>,
  value: unknown,
  schema: TSchema,
) => { steps: (string | number)[]; message: string }[]

/** The given fields over what was there; null clears one. */
export function mergeConfig(before: Config, given: Config): Config {
  const merged = { ...before, ...given }
  for (const key of Object.keys(merged)) if (merged[key] === null) delete merged[key]
  return merged
}

/**
 * The configuration as the provider's schema has it: what it does not name is
 * dropped, so that a misspelt secret is never kept in the clear. Faults are
 * named by their path in the body, as `config.port`.
 */
export function checkConfig(schema: TSchema, config: Config, explain: Explain, faults: Faults): Config {
  const known = Value.Clean(schema, Value.Clone(config)) as Config
  const whole = withDefaults(schema, known)
  for (const { steps, message } of explain(Value.Errors(schema, whole), whole, schema))
    faults.add(joinPath(['config', ...steps]), message)
  return known
}

/** As the provider is given it. */
export function withDefaults(schema: TSchema, config: Config): Config {
  return Value.Default(schema, Value.Clone(config)) as Config
}

/** Apart: what may be shown, and what is sealed. */
export function splitSecrets(config: Config, secrets: readonly string[]): { open: Config; secret: Config } {
  const entries = Object.entries(config)
  return {
    open: Object.fromEntries(entries.filter(([key]) => !secrets.includes(key))),
    secret: Object.fromEntries(entries.filter(([key]) => secrets.includes(key))),
  }
}
