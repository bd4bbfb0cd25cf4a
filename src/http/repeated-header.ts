/**
 * Whether a request has the header, whose name is given in lower case, more than once. `rawHeaders` alternates names and
 * values; of a repeated header, Node's `headers` has the first, or all of them joined.
 */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at]!
    if (each.length === name.length && each.toLowerCase() === name) found++
  }
  return found > 1
}
