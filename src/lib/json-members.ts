import { isUtf8 } from 'node:buffer'

/** What comes out of the top level of a JSON object that is read as it comes. */
export type JsonPart =
  /** A member's value, whole. */
  | { kind: 'member'; key: string; value: Buffer }
  /** The array that is read item by item has begun; what else stands there comes as a member. */
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

/** The text is no JSON object, or one of its values is too long for us. */
export class JsonMembersFault extends Error {
  /** What is too large, where that is the fault: an item, or the member of that name. */
  readonly tooLarge: { item: true } | { member: string } | null
  constructor(message: string, tooLarge: JsonMembersFault['tooLarge'] = null) {
    super(message)
    this.name = 'JsonMembersFault'
    this.tooLarge = tooLarge
  }
}

/** Takes the bytes of one JSON text piece by piece. */
export type JsonMembers = {
  /** What can be said by now. Throws a JsonMembersFault. */
  push(bytes: Buffer): JsonPart[]
  /** The text is over; throws when it should not be. */
  end(): void
}

const NOTHING: Buffer = Buffer.alloc(0)
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Where in the object the next byte that means anything stands. */
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
 * Cuts the text of an object into its members, and one array into its items,
 * without reading what stands in them: strings and brackets are all that it looks
 * at, so it costs about a nanosecond a byte, and holds no more than an item, or the
 * bytes that came at once. What it cuts out is for a real parser to judge.
 */
export function createJsonMembers(options: JsonMembersOptions): JsonMembers {
  const keys = new Set<string>()
  /** What came and was not handed out yet; `at` is the next byte to look at. */
  let held = NOTHING
  /** Where `held` lies, when that is memory of our own. */
  let room = NOTHING
  let at = 0
  let place: Place = 'start'
  let key = ''
  let depth = 0
  let inString = false
  /** Where the value that is being read, or the first of the items not handed out, begins. */
  let begin = 0
  /** Where the last whole item ends; -1 while none does. */
  let itemsEnd = -1
  let firstItem = true

  function push(bytes: Buffer): JsonPart[] {
    append(bytes)
    const parts: JsonPart[] = []
    while (at < held.length) {
      const before = { at, place }
      step(parts)
      // A token that goes on in the next piece.
      if (at === before.at && place === before.place) break
    }
    handOutItems(parts)
    forget()
    return parts
  }

  /** Room doubles where it is short: however small its pieces, a long value is copied a few times, not with each of them. */
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

  /** What the byte that comes next may be, by where it stands. */
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
    if (code === 0xef && at === 0) {
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
    // No value begins so; a reader of the value alone would take it for a byte order mark.
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
    if (code === COMMA) throw malformed()
    if (itemsEnd === -1) begin = at
    firstItem = false
    place = 'in item'
    depth = 0
    inString = false
    scan(parts)
  }

  /** On through a value to its end: the comma or bracket behind it, at its own depth. */
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
    if (code === COMMA) {
      at++
      place = 'item'
      return
    }
    handOutItems(parts)
    at++
    place = 'after value'
  }

  /** An item must not be too long, nor a member's value. Items of the same piece count together: they are short then. */
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
    // Behind the comma, where the next item begins.
    begin = itemsEnd + 1
    itemsEnd = -1
  }

  /** Drops what nobody needs any more. */
  function forget(): void {
    const keepFrom = place === 'in value' || place === 'in item' ? begin : at
    if (keepFrom >= held.length) {
      held = NOTHING
      room = NOTHING
    } else if (keepFrom > 0 || held.buffer !== room.buffer) {
      // A copy, so that a few bytes do not hold on to all that came with them; elsewhere, since parts of it were handed out.
      room = Buffer.from(held.subarray(keepFrom))
      held = room
    }
    at -= keepFrom
    begin -= keepFrom
  }

  return {
    push,
    end() {
      if (place !== 'over') throw new JsonMembersFault('must be complete JSON')
    },
  }
}

/** Where a string ends; -1 where it goes on. Backslashes are counted over the border of two pieces too: its value is held. */
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
/** Members that nobody asked for are remembered by name, to find repeated ones. */
const MAX_KEYS = 1_000

function readName(quoted: Buffer): string {
  try {
    if (isUtf8(quoted)) return JSON.parse(quoted.toString()) as string
  } catch {
    // As below.
  }
  throw malformed()
}

function malformed(): JsonMembersFault {
  return new JsonMembersFault('must be well-formed JSON')
}
