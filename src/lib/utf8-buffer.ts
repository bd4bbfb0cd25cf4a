/**
 * Text that is gathered as UTF-8, in memory that is reused: for many short texts, joined strings and new buffers would
 * be more garbage than the texts themselves, and cost more than to encode them.
 */
export type Utf8Buffer = {
  /** In bytes. */
  readonly length: number
  text(text: string): void
  byte(byte: number): void
  bytes(bytes: Buffer): void
  /** A number of 0 or more, in digits. Makes no string. */
  digits(value: number): void
  /** What was gathered; valid until `clear`. */
  content(): Buffer
  clear(): void
}

/** UTF-8 needs at most three bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3
const MAX_DIGITS = 16
const ZERO = 0x30

/** `size` in bytes is kept; more is allocated when it is needed, and freed by `clear`. */
export function createUtf8Buffer(size: number): Utf8Buffer {
  const kept = Buffer.allocUnsafeSlow(size)
  let buffer = kept
  let length = 0

  function reserve(most: number): void {
    if (most <= buffer.length - length) return
    const larger = Buffer.allocUnsafeSlow(length + most + size)
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }

  return {
    get length() {
      return length
    },
    text(text) {
      reserve(text.length * MAX_BYTES_PER_UNIT)
      length += buffer.write(text, length, 'utf8')
    },
    byte(byte) {
      reserve(1)
      buffer[length++] = byte
    },
    bytes(bytes) {
      reserve(bytes.length)
      length += bytes.copy(buffer, length)
    },
    digits(value) {
      reserve(MAX_DIGITS)
      length = writeDigits(buffer, length, value)
    },
    content: () => buffer.subarray(0, length),
    clear() {
      buffer = kept
      length = 0
    },
  }
}

/** Returns where the digits end. */
function writeDigits(buffer: Buffer, at: number, value: number): number {
  let digits = 1
  for (let power = 10; power <= value; power *= 10) digits++
  for (let place = at + digits - 1; place >= at; place--) {
    buffer[place] = ZERO + (value % 10)
    value = Math.floor(value / 10)
  }
  return at + digits
}
