import { isUtf8 } from 'node:buffer'

/** A part of the top level of a JSON object that is parsed while it is received. */
export type JsonPart =
  /** A member's value, whole. */
  | { kind: 'member'; key: string; value: Buffer }
  /** The array that is read item by item has begun. If that member is not an array, it comes as a `member`. */
  | { kind: 'opened' }
  /** Whole items of that array, with the commas between them. */
  | { kind: 'items'; items: Buffer }

export type JsonMembersOptions = {
  /** The member whose array is read item by item. */
  array: string
  /** Longest item of it, in bytes. */
  maxItemBytes: number
  /** Longest value of any other member, in bytes. */
  maxMemberBytes: number
}

/** The text is not a JSON object, or one of its values is too large. */
export class JsonMembersFault extends Error {
  /** What was too large: an item, or the member of that name; null for other errors. */
  readonly tooLarge: { item: true } | { member: string } | null
  constructor(message: string, tooLarge: JsonMembersFault['tooLarge'] = null) {
    super(message)
    this.name = 'JsonMembersFault'
    this.tooLarge = tooLarge
  }
}

/** Parses the bytes of one JSON text piece by piece. */
export type JsonMembers = {
  /** The parts that are complete now. Throws JsonMembersFault. */
  push(bytes: Buffer): JsonPart[]
  /** Call at the end of the text. Throws JsonMembersFault if it is not complete. */
  end(): void
}

/**
 * So many bytes of items are handed out without those behind them: the parser of a long item may limit how much it takes
 * at once, and V8 takes ten times as long for the same text in one long string, which it allocates on its own.
 */
const ITEMS_BYTES = 32_768

const NOTHING: Buffer = Buffer.alloc(0)
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** What the parser expects next. */
type Place =
  | 'start'
  | 'first key'
  | 'key'
  | 'colon'
  | 'value'
  | 'in value'
  | 'after value'
  | 'item'
  | 'in item'
  | 'over'

/**
 * Cuts the text of an object into its members, and one array into its items, without parsing them: it looks
 * only at strings and brackets, so it costs about a nanosecond a byte, and holds no more than one item, or
 * the bytes that were pushed together. A real parser must check the parts.
 */
export function createJsonMembers(options: JsonMembersOptions): JsonMembers {
  const keys = new Set<string>()
  /** Bytes that were not handed out yet; `at` is the index of the next byte to look at. */
  let held = NOTHING
  /** The buffer that `held` is in, if it is our own memory. */
  let room = NOTHING
  let at = 0
  /** Bytes of the text before `held`. */
  let dropped = 0
  let place: Place = 'start'
  let key = ''
  let depth = 0
  let inString = false
  /** Start of the value that is being read, or of the first item that was not handed out. */
  let begin = 0
  /** End of the last complete item; -1 if there is none. */
  let itemsEnd = -1
  let firstItem = true

  function push(bytes: Buffer): JsonPart[] {
    append(bytes)
    const parts: JsonPart[] = []
    while (at < held.length) {
      const before = { at, place }
      step(parts)
      // The token continues in the next piece.
      if (at === before.at && place === before.place) break
    }
    handOutItems(parts)
    forget()
    return parts
  }

  /**
   * Doubles the buffer when it is too small, so that a long value in small pieces is copied a few times, and
   * not once per piece.
   */
  function append(bytes: Buffer): void {
    const length = held.length
    if (length === 0) {
      held = bytes
      return
    }
    if (room.length < length + bytes.length) {
      room = Buffer.allocUnsafeSlow(Math.max(length + bytes.length, 2 * room.length))
      held.copy(room)
    }
    bytes.copy(room, length)
    held = room.subarray(0, length + bytes.length)
  }

  function step(parts: JsonPart[]): void {
    if (place === 'in value' || place === 'in item') scan(parts)
    else if (isSpace(held[at]!)) at++
    else steps[place](held[at]!, parts)
  }

  /** Handles the next byte, by the parser's state. */
  const steps: Record<Exclude<Place, 'in value' | 'in item'>, (code: number, parts: JsonPart[]) => void> = {
    start: open,
    'first key': code => (code === CLOSE_OBJECT ? close() : readKey(code)),
    key: readKey,
    colon(code) {
      if (code !== COLON) throw malformed()
      at++
      place = 'value'
    },
    value: beginValue,
    'after value'(code) {
      if (code === CLOSE_OBJECT) close()
      else if (code === COMMA) {
        at++
        place = 'key'
      } else throw malformed()
    },
    item: beginItem,
    over() {
      throw malformed()
    },
  }

  function open(code: number): void {
    // A byte order mark may be ignored (RFC 8259).
    if (code === 0xef && dropped + at === 0) {
      if (held.length < 3) return
      if (held[1] !== 0xbb || held[2] !== 0xbf) throw malformed()
      at = 3
      return
    }
    if (code !== OPEN_OBJECT) throw new JsonMembersFault('must be a JSON object')
    at++
    place = 'first key'
  }

  function close(): void {
    at++
    place = 'over'
  }

  function readKey(code: number): void {
    if (code !== QUOTE) throw malformed()
    const end = closingQuote(held, at + 1)
    if (end === -1) {
      if (held.length - at > MAX_KEY_BYTES) throw new JsonMembersFault('has a name that is too long')
      return
    }
    key = readName(held.subarray(at, end + 1))
    if (keys.has(key)) throw new JsonMembersFault(`must give ${JSON.stringify(key)} once only`)
    if (keys.size >= MAX_KEYS) throw new JsonMembersFault(`must have at most ${MAX_KEYS} members`)
    keys.add(key)
    at = end + 1
    place = 'colon'
  }

  function beginValue(code: number, parts: JsonPart[]): void {
    if (key === options.array && code === OPEN_ARRAY) {
      parts.push({ kind: 'opened' })
      at++
      place = 'item'
      firstItem = true
      begin = at
      itemsEnd = -1
      return
    }
    // No JSON value begins with this byte, and a parser that gets the value alone would skip it as a byte
    // order mark.
    if (code === 0xef) throw malformed()
    begin = at
    place = 'in value'
    depth = 0
    inString = false
    scan(parts)
  }

  function beginItem(code: number, parts: JsonPart[]): void {
    if (code === CLOSE_ARRAY) {
      if (!firstItem) throw malformed()
      at++
      place = 'after value'
      return
    }
    // The second one is no JSON value either: see `beginValue`.
    if (code === COMMA || code === 0xef) throw malformed()
    if (itemsEnd === -1) begin = at
    firstItem = false
    place = 'in item'
    depth = 0
    inString = false
    scan(parts)
  }

  /** Goes on to the end of a value: the comma or bracket after it, at its own depth. */
  function scan(parts: JsonPart[]): void {
    const bytes = held
    let position = at
    let level = depth
    let quoted = inString
    while (position < bytes.length) {
      if (quoted) {
        const end = closingQuote(bytes, position)
        if (end === -1) {
          position = bytes.length
          break
        }
        position = end + 1
        quoted = false
        continue
      }
      const code = bytes[position]!
      if (code === QUOTE) quoted = true
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) level++
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        if (level === 0) break
        level--
      } else if (code === COMMA && level === 0) break
      position++
    }
    at = position
    depth = level
    inString = quoted
    if (position < bytes.length) endValue(bytes[position]!, parts)
    else checkLength()
  }

  function endValue(code: number, parts: JsonPart[]): void {
    checkLength()
    if (place === 'in value') {
      if (code === CLOSE_ARRAY || at === begin) throw malformed()
      parts.push({ kind: 'member', key, value: held.subarray(begin, at) })
      place = 'after value'
      return
    }
    itemsEnd = at
    if (code === CLOSE_OBJECT) throw malformed()
    if (at - begin > ITEMS_BYTES) handOutItems(parts)
    if (code === COMMA) {
      at++
      place = 'item'
      return
    }
    handOutItems(parts)
    at++
    place = 'after value'
  }

  /**
   * Checks the length of the item or value that is being read. Items of one piece are counted together: they
   * are short then.
   */
  function checkLength(): void {
    if (place === 'in value') {
      if (at - begin > options.maxMemberBytes) {
        throw new JsonMembersFault('has a value that is too large', { member: key })
      }
    } else if (at - Math.max(begin, itemsEnd) > options.maxItemBytes) {
      throw new JsonMembersFault('has an item that is too large', { item: true })
    }
  }

  function handOutItems(parts: JsonPart[]): void {
    if (itemsEnd === -1) return
    parts.push({ kind: 'items', items: held.subarray(begin, itemsEnd) })
    // After the comma, where the next item begins.
    begin = itemsEnd + 1
    itemsEnd = -1
  }

  /** Drops bytes that are no longer needed. */
  function forget(): void {
    const keepFrom = place === 'in value' || place === 'in item' ? begin : at
    if (keepFrom >= held.length) {
      held = NOTHING
      room = NOTHING
    } else if (keepFrom > 0 || held.buffer !== room.buffer) {
      // A copy, so that a few bytes do not keep the whole piece in memory; in new memory, since parts of the
      // old one were handed out.
      room = Buffer.from(held.subarray(keepFrom))
      held = room
    }
    at -= keepFrom
    begin -= keepFrom
    dropped += keepFrom
  }

  return {
    push,
    end() {
      if (place !== 'over') throw new JsonMembersFault('must be complete JSON')
    },
  }
}

/** Each of the whole items of a part by itself, without the white space before it. */
export function splitItems(items: Buffer): Buffer[] {
  const found: Buffer[] = []
  let begin = 0
  let depth = 0
  for (let at = 0; at <= items.length; at++) {
    const code = items[at]
    if (code === undefined || (code === COMMA && depth === 0)) {
      while (begin < at && isSpace(items[begin]!)) begin++
      found.push(items.subarray(begin, at))
      begin = at + 1
    } else if (code === QUOTE) at = closingQuote(items, at + 1)
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
  }
  return found
}

/**
 * Index of the closing quote; -1 if it is not there yet. Backslashes may be in an earlier piece: the value is
 * held as a whole.
 */
function closingQuote(bytes: Buffer, from: number): number {
  let end = from - 1
  for (;;) {
    end = bytes.indexOf(QUOTE, end + 1)
    if (end === -1) return -1
    let slashes = 0
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

const MAX_KEY_BYTES = 4_096
/** All member names are remembered, to find repeated ones. */
const MAX_KEYS = 1_000

function readName(quoted: Buffer): string {
  try {
    if (isUtf8(quoted)) return JSON.parse(quoted.toString()) as string
  } catch {
    // Reported below.
  }
  throw malformed()
}

function malformed(): JsonMembersFault {
  return new JsonMembersFault('must be well-formed JSON')
}
