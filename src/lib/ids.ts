import type { Clock } from './clock.ts'
import { MINUTE_MS } from './durations.ts'
import type { Random } from './random.ts'

/**
 * Ids are UUIDv7 (RFC 9562): 48 bits of time, then randomness. In the API they have a prefix and 26
 * characters of Crockford base 32, as in TypeID, so that they sort by time as text too; in the database they
 * are plain uuids.
 */
const PREFIXES = {
  account: 'acc',
  apiKey: 'key',
  asset: 'ast',
  attachment: 'att',
  audit: 'aud',
  block: 'blk',
  bot: 'bot',
  connection: 'cnn',
  credit: 'crd',
  delivery: 'dlv',
  event: 'evt',
  inbound: 'inb',
  invitation: 'inv',
  job: 'job',
  message: 'msg',
  queue: 'que',
  request: 'req',
  sender: 'snd',
  session: 'ses',
  suppression: 'sup',
  template: 'tpl',
  usage: 'usg',
  user: 'usr',
  verification: 'ver',
  webhook: 'whk',
} as const

export type Prefix = (typeof PREFIXES)[keyof typeof PREFIXES]
export type Id<P extends Prefix = Prefix> = `${P}_${string}`
export type AccountId = Id<'acc'>
export type AssetId = Id<'ast'>
export type BotId = Id<'bot'>
export type ConnectionId = Id<'cnn'>
export type MessageId = Id<'msg'>
export type RequestId = Id<'req'>

/**
 * Makes ids. One per process, so that ids of the same millisecond sort in the order in which they were made, also while the
 * clock is set back a little.
 */
export type Ids = {
  next<P extends Prefix>(prefix: P): Id<P>
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
/** Values of base 32 digits by character code: a table, since ids are parsed at every step of a send. */
const DIGIT = new Uint8Array(128)
for (let value = 0; value < ALPHABET.length; value++) DIGIT[ALPHABET.charCodeAt(value)] = value
const LETTERS = Uint8Array.from(ALPHABET, letter => letter.charCodeAt(0))
const HEX_LETTERS = Uint8Array.from('0123456789abcdef', letter => letter.charCodeAt(0))
const HEX_DIGIT = new Uint8Array(128)
for (let value = 0; value < HEX_LETTERS.length; value++) HEX_DIGIT[HEX_LETTERS[value]!] = value
const UNDERSCORE = 0x5f
const BODY_LENGTH = 26
export const UUID_BYTES = 16
const RANDOM_BYTES = 8
/** Ids whose randomness is drawn at once. */
const DRAWN_AT_ONCE = 64
/** Ids keep their order over a clock that is set back by this much; one that was further ahead was wrong. */
const MAX_AHEAD_MS = MINUTE_MS

// Texts are built from character codes: appending letter by letter leaves ten times the size of the text as
// garbage, and there are some ten ids to a message.

/** The 16 bytes of the id that is being encoded. Shared, since encoding is synchronous. */
const bytes = Buffer.alloc(UUID_BYTES)
const idCodes: number[] = Array.from({ length: 4 + BODY_LENGTH }, () => 0)
const uuidCodes: number[] = Array.from('00000000-0000-0000-0000-000000000000', letter => letter.charCodeAt(0))
/** The positions of the hexadecimal digits in a uuid. */
const UUID_PLACES = uuidCodes.flatMap((code, at) => (code === 0x2d ? [] : [at]))

export function createIds(clock: Clock, random: Random): Ids {
  let drawn: Buffer = Buffer.alloc(0)
  let used = 0
  let lastMs = 0
  let counter = 0

  /**
   * Counts in the 12 bits beside the time within one millisecond; on overflow it goes on with the next
   * millisecond. After a clock was far ahead, its time is not kept: what is made would have it until the restart.
   */
  function tick(): void {
    const nowMs = clock.now()
    if (nowMs > lastMs || lastMs - nowMs > MAX_AHEAD_MS) {
      lastMs = nowMs
      counter = random.bytes(2).readUInt16BE() & 0x3ff
    } else if (++counter > 0xfff) {
      lastMs++
      counter = 0
    }
  }

  function draw(): void {
    if (used === drawn.length) {
      drawn = random.bytes(DRAWN_AT_ONCE * RANDOM_BYTES)
      used = 0
    }
    drawn.copy(bytes, 8, used, used + RANDOM_BYTES)
    used += RANDOM_BYTES
  }

  return {
    next(prefix) {
      tick()
      draw()
      bytes.writeUIntBE(lastMs, 0, 6)
      bytes.writeUInt16BE(0x7000 | counter, 6)
      bytes[8] = (bytes[8]! & 0x3f) | 0x80
      return encode(prefix)
    },
  }
}

/** The same 128 bits with another prefix: for example, a message has the same bits as its usage and its request. */
export function withPrefix<P extends Prefix>(prefix: P, id: Id): Id<P> {
  return `${prefix}_${id.slice(4)}`
}

/** The id's time, in milliseconds since the epoch. */
export function timeOf(id: Id): number {
  let ms = 0
  for (let at = 4; at < 14; at++) ms = ms * 32 + DIGIT[id.charCodeAt(at)]!
  // Ten letters have 50 bits, of which the first two are padding: 48 bits of time.
  return ms
}

/** Whether `text` is a well-formed id: the prefix, and 26 letters of at most 128 bits. */
export function isId<P extends Prefix>(prefix: P, text: string): text is Id<P> {
  return (
    text.length === 4 + BODY_LENGTH &&
    text.startsWith(`${prefix}_`) &&
    /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(4))
  )
}

/** The id as a uuid, as the database stores it: `01890a5d-ac96-774b-bcce-b302099a8057`. Some 0.3 µs. */
export function toUuid(id: Id): string {
  let held = 0
  let bits = 0
  let digit = 0
  // 26 letters have 130 bits: the first letter carries only three.
  for (let at = 4; at < 4 + BODY_LENGTH; at++) {
    held = (held << 5) | DIGIT[id.charCodeAt(at)]!
    bits += at === 4 ? 3 : 5
    while (bits >= 4) {
      bits -= 4
      uuidCodes[UUID_PLACES[digit++]!] = HEX_LETTERS[(held >>> bits) & 0xf]!
    }
    held &= (1 << bits) - 1
  }
  return String.fromCharCode.apply(null, uuidCodes)
}

/** Writes the 16 bytes of an id, or of a uuid as text, to a buffer. */
export function writeUuid(id: Id | string, into: Uint8Array, at: number): void {
  if (id.charCodeAt(3) !== UNDERSCORE) {
    writeHex(id, into, at)
    return
  }
  let next = at
  let held = DIGIT[id.charCodeAt(4)]!
  let bits = 3
  for (let letter = 5; letter < 4 + BODY_LENGTH; letter++) {
    held = (held << 5) | DIGIT[id.charCodeAt(letter)]!
    bits += 5
    if (bits < 8) continue
    bits -= 8
    into[next++] = held >>> bits
    held &= (1 << bits) - 1
  }
}

function writeHex(uuid: string, into: Uint8Array, at: number): void {
  const end = at + UUID_BYTES
  for (let next = at, place = 0; next < end; next++, place += 2) {
    const upper = HEX_DIGIT[uuid.charCodeAt(UUID_PLACES[place]!)]!
    into[next] = (upper << 4) | HEX_DIGIT[uuid.charCodeAt(UUID_PLACES[place + 1]!)]!
  }
}

/** The id of a uuid from the database. */
export function fromUuid<P extends Prefix>(prefix: P, uuid: string): Id<P> {
  bytes.write(uuid.replaceAll('-', ''), 'hex')
  return encode(prefix)
}

/** The lowest and the highest uuid, for ranges without a bound. */
export const FIRST_UUID = '00000000-0000-0000-0000-000000000000'
export const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The smallest uuid of a time: a bound for range reads, since ids sort by time. */
export function firstUuidAt(atMs: number): string {
  const hex = Math.max(0, Math.floor(atMs)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** The id of the uuid in `bytes`. */
function encode<P extends Prefix>(prefix: P): Id<P> {
  let at = 0
  for (; at < 3; at++) idCodes[at] = prefix.charCodeAt(at)
  idCodes[at++] = UNDERSCORE
  idCodes[at++] = LETTERS[bytes[0]! >>> 5]!
  let held = bytes[0]! & 0x1f
  let bits = 5
  for (let next = 1; at < idCodes.length; ) {
    if (bits < 5) {
      held = (held << 8) | bytes[next++]!
      bits += 8
    }
    bits -= 5
    idCodes[at++] = LETTERS[(held >>> bits) & 0x1f]!
    held &= (1 << bits) - 1
  }
  return String.fromCharCode.apply(null, idCodes) as Id<P>
}
