/**
 * `{{name}}` in a text stands for a value of the message. The language has nothing else:
 * no conditions, no code. Values are escaped for the place that the text is in,
 * so that no message can break out of its field.
 */
export type Values = Readonly<Record<string, string | null>>

const PLACEHOLDER = /\{\{\s*([A-Za-z][A-Za-z0-9_.]*)\s*\}\}/g

/** The names of a message's values; besides these, `secret.…` are the connection's sealed secrets. */
export const PLACEHOLDERS = [
  'to',
  'toDigits',
  'from',
  'fromDigits',
  'text',
  'encoding',
  'coding',
  'dataCoding',
  'attemptId',
  'messageId',
  'messageType',
  'receiptUrl',
] as const

/** The names in all texts of a JSON value, at any depth. */
export function placeholdersIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(PLACEHOLDER)].map(match => match[1]!)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placeholdersIn) : []
}

/** Fills in a text; null where the message has no value for one of its names. */
export function fill(text: string, values: Values, write: (value: string) => string = same): string | null {
  if (placeholdersIn(text).some(name => (values[name] ?? null) === null)) return null
  return text.replace(PLACEHOLDER, (_, name: string) => write(values[name]!))
}

/** Fills in all fields; a field without its value is left out. */
export function fillFields(fields: Readonly<Record<string, string>>, values: Values): Record<string, string> {
  const filled = Object.entries(fields).map(([name, text]) => [name, fill(text, values)] as const)
  return Object.fromEntries(filled.filter(([, text]) => text !== null)) as Record<string, string>
}

/**
 * Fills in every text of a JSON value. Members and items without their value are left out, and
 * so are objects and arrays that become empty by it.
 */
export function fillJson(value: unknown, values: Values): unknown {
  if (typeof value === 'string') return fill(value, values) ?? undefined
  if (typeof value !== 'object' || value === null) return value
  const filled = Object.entries(value).map(([name, each]) => [name, fillJson(each, values)] as const)
  const kept = filled.filter(([, each]) => each !== undefined)
  if (kept.length === 0 && filled.length > 0) return undefined
  return Array.isArray(value) ? kept.map(([, each]) => each) : Object.fromEntries(kept)
}

const XML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Characters that XML 1.0 does not allow, not even as references (2.2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding these is the point
const INVALID_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

/**
 * Fills in XML. A missing value is empty, since a template cannot leave out an element. Null where XML does not allow a
 * character of a value.
 */
export function fillXml(text: string, values: Values): string | null {
  const whole = Object.fromEntries(placeholdersIn(text).map(name => [name, values[name] ?? '']))
  if (Object.values(whole).some(value => INVALID_IN_XML.test(value))) return null
  return fill(text, whole, value => value.replace(/[&<>"']/g, letter => XML[letter]!))
}

/** Whether a text is allowed in a header. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text)
}

function same(value: string): string {
  return value
}
