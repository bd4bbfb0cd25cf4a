import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { KeyMode } from '../../contract/enums.ts'
import type { Random } from '../../lib/random.ts'

/**
 * `ph_live_` or `ph_test_`, 32 random base 62 characters (190 bits), and a
 * CRC-32 of all that in six more. So a mistyped key is refused, and a scanner of
 * repositories recognizes a real one, without a look-up.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 32
const CHECKSUM_LENGTH = 6
const SHAPE = /^ph_(live|test)_[0-9A-Za-z]{38}$/
/** `ph_live_` and four of 32 secret characters. */
const PREFIX_LENGTH = 12

/** A new key in clear. Only its hash may be stored. */
export function makeApiKey(mode: KeyMode, random: Random): string {
  const body = `ph_${mode}_${secret(random)}`
  return body + checksum(body)
}

/** Whether the text has the form and the checksum of a key; the key need not exist. */
export function isApiKey(text: string): boolean {
  return SHAPE.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** The beginning of a key, which lists show. */
export function prefixOf(rawKey: string): string {
  return rawKey.slice(0, PREFIX_LENGTH)
}

/**
 * SHA-256 in hex, which is stored in place of the key. A key has 190 random bits, so it
 * cannot be guessed from a fast hash; a slow hash would slow down every request.
 */
export function hashApiKey(rawKey: string): string {
  return hash('sha256', rawKey, 'hex')
}

function secret(random: Random): string {
  let text = ''
  while (text.length < SECRET_LENGTH) {
    for (const byte of random.bytes(SECRET_LENGTH)) {
      // 248 is the largest multiple of 62 in a byte: with higher bytes, some characters would be more likely.
      if (byte < 248 && text.length < SECRET_LENGTH) text += BASE62[byte % 62]
    }
  }
  return text
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let at = 0; at < CHECKSUM_LENGTH; at++) {
    text = BASE62[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
