import type { Invocation } from './client-command.ts'

/** The paging options of a list. */
export const PAGE_OPTIONS = { limit: { type: 'string' }, cursor: { type: 'string' } } as const

/**
 * The query of a list: the paging options, and those filters that were given, whose parameters are named like
 * the options.
 */
export function pageQuery(given: Invocation, ...filters: string[]): string {
  return queryOf(given, Object.fromEntries(['limit', 'cursor', ...filters].map(name => [name, name])))
}

/** A query string of the options that were given, by parameter; empty without any. */
export function queryOf(given: Invocation, options: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams()
  for (const [field, option] of Object.entries(options)) {
    const value = given.text(option)
    if (value !== undefined) query.set(field, value)
  }
  return query.size === 0 ? '' : `?${query}`
}
