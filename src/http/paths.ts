import type { Route } from './route.ts'

/** The methods that `url`'s path answers, HEAD beside each GET; none when nothing is there. */
export function allowedMethods(routes: readonly Route[], url: string): string[] {
  const path = url.split('?', 1)[0]!.split('/')
  const methods = routes.filter(route => matches(route.url.split('/'), path)).map(route => route.method)
  return [...new Set(methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, at) => (step.startsWith(':') ? path[at] !== '' : step === path[at]))
  )
}
