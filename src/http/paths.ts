import type { Route } from './route.ts'

/**
 * The methods that the path of `url` supports, with HEAD for each GET; none for an unknown path. A fixed path,
 * such as `/messages/send`, is not also an id of its parent path.
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
 * Fixed paths that the router would match to `route` for a method that they do not support: `GET
 * /messages/send` does not read a message with the id "send".
 */
export function shadowedPaths(routes: readonly Route[], route: Route): ReadonlySet<string> {
  if (!hasParams(route)) return new Set()
  const pattern = route.url.split('/')
  const swallowed = routes.filter(other => !hasParams(other) && matches(pattern, other.url.split('/')))
  return new Set(swallowed.map(other => other.url))
}

/** The path without the query, decoded as the router decodes it: `/%61ccount` is `/account`. */
export function pathOf(url: string): string {
  const path = url.split('?', 1)[0]!
  if (!path.includes('%')) return path
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Whether a request is for a page of the console. */
export type PageCheck = (url: string, accepted: string | undefined) => boolean

/** Pages are at all paths whose first segment is not that of a route, for requests that accept HTML. */
export function createPageCheck(routes: readonly Route[]): PageCheck {
  const taken = new Set(routes.map(route => firstStep(route.url)))
  return (url, accepted) => accepted?.includes('text/html') === true && !taken.has(firstStep(pathOf(url)))
}

function firstStep(path: string): string {
  return path.split('/')[1]!
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
