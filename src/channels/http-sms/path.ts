/** The value at a path such as `messages.0.id`; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, step) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, step)) return undefined
    return (inner as Record<string, unknown>)[step]
  }, value)
}

/** The value at a path as text; null where there is no text, number or boolean. */
export function textAt(value: unknown, path: string): string | null {
  const found = valueAt(value, path)
  return typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean'
    ? String(found)
    : null
}
