import { hash } from 'node:crypto'
import type { Random } from '../../lib/random.ts'

const TOKEN_BYTES = 32

/** 256 bits for a cookie or a link. */
export function newToken(random: Random): string {
  return random.bytes(TOKEN_BYTES).toString('base64url')
}

/** The hash to store. A fast hash is enough: 256 random bits cannot be guessed. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
