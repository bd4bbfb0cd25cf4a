import type { Invocation } from './client-command.ts'

/** The query of a list: its page, and the filters that were given. */
export function pageQuery(given: Invocation, ...filters: string[]): string {
  const query = new URLSearchParams()
  for (const name of ['limit', 'cursor', ...filters]) {
    const value = given.text(name)
    if (value !== undefined) query.set(name, value)
  }
  return query.size === 0 ? '' : `?${query}`
}
