import type { TOTP } from 'otpauth'
import type { Random } from '../../lib/random.ts'

/** TOTP codes (RFC 6238): six digits, 30 seconds, SHA-1, which every authenticator app supports. */

const PERIOD_SECONDS = 30
/** Steps before and after the present one that are accepted: for clocks that differ, and codes that change while they are typed. */
const WINDOW_STEPS = 1
const SECRET_BYTES = 20
const ISSUER = 'Posthorn'

export function newTotpSecret(random: Random): Buffer {
  return random.bytes(SECRET_BYTES)
}

/** For setting up an authenticator: the `otpauth://totp/…` URI, and the secret in base 32. */
export async function describeTotp(secret: Buffer, label: string): Promise<{ uri: string; secret: string }> {
  const totp = await createTotp(secret, label)
  return { uri: totp.toString(), secret: totp.secret.base32 }
}

/** The 30-second step (since 1970) of a code; null for a code that is not valid now. */
export async function stepOfCode(secret: Buffer, code: string, nowMs: number): Promise<number | null> {
  const totp = await createTotp(secret, '')
  const delta = totp.validate({ token: code, timestamp: nowMs, window: WINDOW_STEPS })
  return delta === null ? null : Math.floor(nowMs / 1000 / PERIOD_SECONDS) + delta
}

/** Loads the library at first use: most servers run for weeks without it. */
async function createTotp(secret: Buffer, label: string): Promise<TOTP> {
  const { Secret, TOTP } = await import('otpauth')
  const bytes = new Uint8Array(secret)
  return new TOTP({
    issuer: ISSUER,
    label,
    secret: new Secret({ buffer: bytes.buffer }),
    period: PERIOD_SECONDS,
  })
}
