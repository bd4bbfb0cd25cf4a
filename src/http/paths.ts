import type { Route } from './route.ts'

/**
 * The methods that `url`'s path answers, HEAD beside each GET; none when nothing
 * is there. A path of its own is not also an id of its parent's.
 */
export function allowedMethods(routes: readonly Route[], url: string): string[] {
  const path = pathOf(url)
  const own = routes.filter(route => route.url === path)
  const steps = path.split('/')
  const found = own.length > 0 ? own : routes.filter(route => matches(route.url.split('/'), steps))
  const methods = found.map(route => route.method)
  return [...new Set(methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
}

/**
 * Paths of their own that the router would give to `route` for a method that
 * they do not answer: `GET /messages/send` is no read of a message called "send".
 */
export function swallowedPaths(routes: readonly Route[], route: Route): ReadonlySet<string> {
  if (!hasParams(route)) return new Set()
  const pattern = route.url.split('/')
  const swallowed = routes.filter(other => !hasParams(other) && matches(pattern, other.url.split('/')))
  return new Set(swallowed.map(other => other.url))
}

export function pathOf(url: string): string {
  return url.split('?', 1)[0]!
}

function hasParams({ url }: Route): boolean {
  return url.includes('/:')
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, at) => (step.startsWith(':') ? path[at] !== '' : step === path[at]))
  )
}
