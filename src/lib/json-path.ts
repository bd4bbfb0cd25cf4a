/** Longer keys are cut, so that an error does not send a large part of the request body back. */
const MAX_KEY_LENGTH = 64
const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/

/**
 * One step of a path in error details: `options.scheduleAt`, `to[3]`, and `metadata["a b"]` for keys that are
 * not identifiers.
 */
export function pathStep(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  if (key.length <= MAX_KEY_LENGTH && PLAIN_KEY.test(key)) return `.${key}`
  const shown = key.length <= MAX_KEY_LENGTH ? key : `${key.slice(0, MAX_KEY_LENGTH)}…`
  return `[${JSON.stringify(shown.toWellFormed())}]`
}

/** Puts the name of a field before a path into that field's value. */
export function pathBelow(field: string, path: string): string {
  return path === '' || path.startsWith('[') ? field + path : `${field}.${path}`
}

/** The path of `steps`, outermost first; empty for the whole body. */
export function joinPath(steps: readonly (string | number)[]): string {
  const path = steps.map(pathStep).join('')
  return path.startsWith('.') ? path.slice(1) : path
}
