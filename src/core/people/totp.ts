import type { TOTP } from 'otpauth'
import type { Random } from '../../lib/random.ts'

/** Codes of an authenticator (RFC 6238): six digits, 30 seconds, SHA-1, as every authenticator speaks them. */

const PERIOD_SECONDS = 30
/** A clock that is off by half a minute, or a code that was read as it changed. */
const WINDOW_STEPS = 1
const SECRET_BYTES = 20
const ISSUER = 'Posthorn'

export function newTotpSecret(random: Random): Buffer {
  return random.bytes(SECRET_BYTES)
}

/** What an authenticator is told: `otpauth://totp/…` and the secret in base 32. */
export async function describeTotp(secret: Buffer, label: string): Promise<{ uri: string; secret: string }> {
  const totp = await open(secret, label)
  return { uri: totp.toString(), secret: totp.secret.base32 }
}

/** The 30 seconds that a code belongs to, counted from 1970; null for one that is not right now. */
export async function stepOfCode(secret: Buffer, code: string, nowMs: number): Promise<number | null> {
  const totp = await open(secret, '')
  const delta = totp.validate({ token: code, timestamp: nowMs, window: WINDOW_STEPS })
  return delta === null ? null : Math.floor(nowMs / 1000 / PERIOD_SECONDS) + delta
}

/** Loaded when it is needed: most servers run for weeks without. */
async function open(secret: Buffer, label: string): Promise<TOTP> {
  const { Secret, TOTP } = await import('otpauth')
  const bytes = new Uint8Array(secret)
  return new TOTP({
    issuer: ISSUER,
    label,
    secret: new Secret({ buffer: bytes.buffer }),
    period: PERIOD_SECONDS,
  })
}
