import type { Invocation } from './client-command.ts'

/** What a list is asked for, beside its filters. */
export const PAGE_OPTIONS = { limit: { type: 'string' }, cursor: { type: 'string' } } as const

/** The query of a list: its page, and the filters that were given, which are called as their options. */
export function pageQuery(given: Invocation, ...filters: string[]): string {
  return queryOf(given, Object.fromEntries(['limit', 'cursor', ...filters].map(name => [name, name])))
}

/** A query of what was given, each field by the option that says it; empty where none was. */
export function queryOf(given: Invocation, options: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams()
  for (const [field, option] of Object.entries(options)) {
    const value = given.text(option)
    if (value !== undefined) query.set(field, value)
  }
  return query.size === 0 ? '' : `?${query}`
}
