import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/**
 * Ids are UUIDv7 (RFC 9562): 48 bits of time, then randomness. On the wire they
 * carry a prefix and 26 characters of Crockford base 32, as TypeID writes them,
 * so that they sort by time as text too; in the store they are plain uuids.
 */
export const PREFIXES = {
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

/** Makes ids; one per process, so that ids of the same millisecond still sort. */
export type Ids = {
  next<P extends Prefix>(prefix: P): Id<P>
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
/** By character code: a table, since ids are read on every step of a send. */
const DIGIT = new Uint8Array(128)
for (let value = 0; value < ALPHABET.length; value++) DIGIT[ALPHABET.charCodeAt(value)] = value
const BODY_LENGTH = 26
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function createIds(clock: Clock, random: Random): Ids {
  const bytes = Buffer.alloc(16)
  let lastMs = 0
  let counter = 0

  /** 12 bits beside the time count within a millisecond; past them, borrow the next one. */
  function tick(): void {
    const nowMs = clock.now()
    if (nowMs > lastMs) {
      lastMs = nowMs
      counter = random.bytes(2).readUInt16BE() & 0x3ff
    } else if (++counter > 0xfff) {
      lastMs++
      counter = 0
    }
  }

  return {
    next(prefix) {
      tick()
      bytes.writeUIntBE(lastMs, 0, 6)
      bytes.writeUInt16BE(0x7000 | counter, 6)
      bytes.set(random.bytes(8), 8)
      bytes[8] = (bytes[8]! & 0x3f) | 0x80
      return `${prefix}_${encode(bytes)}`
    },
  }
}

/** The same 128 bits under another prefix: a message, its usage and its request are one event. */
export function sameAs<P extends Prefix>(prefix: P, id: Id): Id<P> {
  return `${prefix}_${id.slice(4)}`
}

/** The id's time, in milliseconds since the epoch. */
export function timeOf(id: Id): number {
  let ms = 0
  for (let at = 4; at < 14; at++) ms = ms * 32 + DIGIT[id.charCodeAt(at)]!
  // Ten letters carry 50 bits of which the first two are padding: 48 bits of time.
  return ms
}

/** An id is well-formed: the prefix, and 26 letters that hold no more than 128 bits. */
export function isId<P extends Prefix>(prefix: P, text: string): text is Id<P> {
  return (
    text.length === 4 + BODY_LENGTH &&
    text.startsWith(`${prefix}_`) &&
    /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(4))
  )
}

/** As the store knows it: `01890a5d-ac96-774b-bcce-b302099a8057`. Some 0.3 µs. */
export function toUuid(id: Id): string {
  let bits = 0
  let held = 0
  let read = 0
  // 26 letters are 130 bits: the first carries only three.
  for (let at = 4; at < 4 + BODY_LENGTH; at++) {
    held = (held << 5) | DIGIT[id.charCodeAt(at)]!
    bits += at === 4 ? 3 : 5
    if (bits < 8) continue
    bits -= 8
    decoded[read++] = held >>> bits
    held &= (1 << bits) - 1
  }
  return `${hex(0, 4)}-${hex(4, 6)}-${hex(6, 8)}-${hex(8, 10)}-${hex(10, 16)}`
}

/** The bytes of the id being read; nobody else runs meanwhile. */
const decoded = new Uint8Array(16)

function hex(from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at++) text += HEX[decoded[at]!]
  return text
}

/** From the store's spelling to the wire's. */
export function fromUuid<P extends Prefix>(prefix: P, uuid: string): Id<P> {
  return `${prefix}_${encode(Buffer.from(uuid.replaceAll('-', ''), 'hex'))}`
}

/** The smallest uuid of a time: a bound for range reads, since ids sort by time. */
export function firstUuidAt(atMs: number): string {
  const hex = Math.max(0, Math.floor(atMs)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

function encode(bytes: Buffer): string {
  let text = ALPHABET[bytes[0]! >>> 5]!
  let held = bytes[0]! & 0x1f
  let bits = 5
  for (let at = 1; at <= 16; at++) {
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(held >>> bits) & 0x1f]
      held &= (1 << bits) - 1
    }
    if (at < 16) {
      held = (held << 8) | bytes[at]!
      bits += 8
    }
  }
  return text
}
