/**
 * A number that a double would change, such as an integer beyond 2^53: `JSON.stringify` writes it with the
 * digits that it was sent with. Not a number to compute with.
 */
export type ExactNumber = { readonly rawJSON: string }

/** What the TypeScript library does not declare yet (ECMAScript's "JSON.parse source text access"). */
const json = JSON as unknown as {
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): boolean
}

/** The field with JSON of the users' own, at any place in a body. */
const USERS_FIELD = 'metadata'
const USERS_KEY = `"${USERS_FIELD}"`
/** Longer JSON of users is refused anyway: so many characters leave room for white space and escapes. */
const MAX_CHARACTERS = 131_072

/** A double keeps so many significant digits: a number of no more digits and points needs no closer look. */
export const KEPT_DIGITS = 15
const MANY_DIGITS = new RegExp(`\\d[\\d.]{${KEPT_DIGITS}}`)

export function isExactNumber(value: object): value is ExactNumber {
  return json.isRawJSON(value)
}

/** `JSON.parse`, but numbers that a double would change are ExactNumbers. No string in `text` may contain NUL. */
export function parseExactly(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text)
  const marked = mark(text)
  const value: unknown = JSON.parse(marked)
  return marked === text ? value : unmark(value)
}

/** `JSON.parse`, but as `parseExactly` in the users' own JSON. Elsewhere a number stays one, for the checks of its field. */
export function parseBody(text: string): unknown {
  return withExactFields(JSON.parse(text), text)
}

/** What `parseBody` returns for `text`, of which JSON.parse made `value`. */
export function withExactFields(value: unknown, text: string): unknown {
  const marked = MANY_DIGITS.test(text) ? markUsersFields(text) : text
  if (marked === text) return value
  const exact: unknown = JSON.parse(marked)
  unmarkUsersFields(exact)
  return exact
}

/** Begins a string that stands for a number: no other string may contain it. A reviver would cost tenfold. */
const MARK = '\0'
const ESCAPED_MARK = '\\u0000'

/** A string or a number in valid JSON. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

function mark(text: string): string {
  return text.replace(TOKENS, token =>
    token.length > 15 && token[0] !== '"' && losesDigits(token) ? `"${ESCAPED_MARK}${token}"` : token,
  )
}

function losesDigits(source: string): boolean {
  const value = Number(source)
  // What is too small for a double is zero.
  return value !== 0 && canonicalNumber(source) !== canonicalNumber(JSON.stringify(value))
}

function markUsersFields(text: string): string {
  let marked = ''
  let done = 0
  let at = text.indexOf(USERS_KEY)
  while (at !== -1) {
    const begin = valueOfKey(text, at)
    const end = begin === -1 ? at + 1 : endOfValue(text, begin)
    if (begin !== -1 && end - begin <= MAX_CHARACTERS) {
      marked += text.slice(done, begin) + mark(text.slice(begin, end))
      done = end
    }
    at = text.indexOf(USERS_KEY, end)
  }
  return done === 0 ? text : marked + text.slice(done)
}

const COLON = /\s*:/y

/** Where the value of the key at `at` begins; -1 if there is no key, but a part of a string or a value. */
function valueOfKey(text: string, at: number): number {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes++
  COLON.lastIndex = at + USERS_KEY.length
  return slashes % 2 === 0 && COLON.test(text) ? COLON.lastIndex : -1
}

/** Ends a value that is not an array or object, or changes the depth in one. */
const PIECES = /"[^"\\]*(?:\\.[^"\\]*)*"|[[{]|[\]}]|[^\s,:"[\]{}]+/g

function endOfValue(text: string, begin: number): number {
  PIECES.lastIndex = begin
  let depth = 0
  do {
    const piece = PIECES.exec(text)
    if (!piece) return text.length
    if (piece[0] === '[' || piece[0] === '{') depth++
    else if (piece[0] === ']' || piece[0] === '}') depth--
  } while (depth > 0)
  return PIECES.lastIndex
}

function unmarkUsersFields(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const members = value as Record<string, unknown>
  for (const key of Object.keys(members)) {
    if (key === USERS_FIELD) members[key] = unmark(members[key])
    else unmarkUsersFields(members[key])
  }
}

function unmark(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? json.rawJSON(value.slice(1)) : value
  if (typeof value !== 'object' || value === null) return value
  const members = value as Record<string, unknown>
  for (const key of Object.keys(members)) members[key] = unmark(members[key])
  return members
}

/**
 * One spelling for each number, that of ECMAScript wherever a double can hold it: 1.50 and 15e-1 are both 1.5. Integers
 * have all their digits.
 */
export function canonicalNumber(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const all = `${whole}${fraction}`
  const begin = all.search(/[1-9]/)
  if (begin === -1) return '0'
  const digits = all.slice(begin, endOfDigits(all))
  // The number is 0.DIGITS × 10^point.
  const point = Number(exponent) + whole.length - begin
  return sign + place(digits, point)
}

/** Where the zeros at the end begin. By a loop: `/0+$/` would look at each zero once for every zero before it. */
function endOfDigits(digits: string): number {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return end
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** As `Number::toString` places the point (ECMA-262), save that it knows no more than 21 digits. */
function place(digits: string, point: number): string {
  const most = Math.max(21, digits.length)
  if (point >= digits.length && point <= most) return digits.padEnd(point, '0')
  if (point > 0 && point <= most) return `${digits.slice(0, point)}.${digits.slice(point)}`
  if (point > -6 && point <= 0) return `0.${'0'.repeat(-point)}${digits}`
  const exponent = point - 1
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`
}
