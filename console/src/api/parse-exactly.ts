/** What the TypeScript library does not declare yet (ECMAScript's "JSON.parse source text access"). */
type ExactJson = { rawJSON?(text: string): unknown }
type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown

/** A double keeps any 15 significant digits. */
const MANY_DIGITS = /\d[\d.]{15}/

/**
 * `JSON.parse`, but `JSON.stringify` writes the numbers of the result with the digits that they have in `text`, also
 * where a double has fewer: integers beyond 2^53 of users' metadata. Older browsers round them.
 */
export function parseExactly(text: string): unknown {
  const { rawJSON } = JSON as ExactJson
  if (rawJSON === undefined || !MANY_DIGITS.test(text)) return JSON.parse(text)
  const revive: Reviver = (_key, value, context) => {
    const source = context?.source
    return typeof value !== 'number' || source === undefined || source === JSON.stringify(value)
      ? value
      : rawJSON(source)
  }
  return JSON.parse(text, revive)
}
