import { useCallback, useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'

/**
 * Filters in the URL, so that links and the back button keep them.
 *
 *     const [filters, setFilters, clear] = useFilters(['status', 'channel', 'to'])
 *
 * `clear` removes all of them, and is null if none is set.
 */
export function useFilters<const N extends string>(
  names: readonly N[],
): [
  filters: Partial<Record<N, string>>,
  change: (change: Partial<Record<N, string | null>>) => void,
  clear: (() => void) | null,
] {
  const search = useSearch()
  const [path, go] = useLocation()
  const wanted = names.join(' ')
  const filters = useMemo(() => {
    const given = new URLSearchParams(search)
    const found = wanted.split(' ').flatMap(name => {
      const value = given.get(name)
      return value === null || value === '' ? [] : [[name, value]]
    })
    return Object.fromEntries(found) as Partial<Record<N, string>>
  }, [search, wanted])
  const change = useCallback(
    (part: Partial<Record<N, string | null>>) => {
      const next = new URLSearchParams(search)
      for (const [name, value] of Object.entries(part) as [string, string | null | undefined][]) {
        if (value === null || value === undefined || value === '') next.delete(name)
        else next.set(name, value)
      }
      const text = next.toString()
      go(text === '' ? path : `${path}?${text}`, { replace: true })
    },
    [search, path, go],
  )
  const clear = () => change(Object.fromEntries(names.map(name => [name, null])) as Record<N, null>)
  return [filters, change, Object.keys(filters).length === 0 ? null : clear]
}
