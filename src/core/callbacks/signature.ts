import { createHmac } from 'node:crypto'
import type { Random } from '../../lib/random.ts'

/** Prefix of base64 secrets in Standard Webhooks (spec, "Signature scheme"). */
const PREFIX = 'whsec_'
/** Within the 24 to 64 bytes that the specification asks for. */
const SECRET_BYTES = 32

/** `whsec_` and base64. */
export function createWebhookSecret(random: Random): string {
  return PREFIX + random.bytes(SECRET_BYTES).toString('base64')
}

/** The key of a secret that we made. */
export function keyOfWebhookSecret(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64')
}

/**
 * The keys of a secret that a user chose: its bytes as they are. If it has the form of a
 * Standard Webhooks secret, also the base64-decoded key, which their libraries use.
 */
export function keysOfChosenSecret(secret: string): Buffer[] {
  const bytes = Buffer.from(secret)
  const encoded = secret.startsWith(PREFIX) ? keyOfWebhookSecret(secret) : null
  return encoded && encoded.length > 0 ? [bytes, encoded] : [bytes]
}

/** Standard Webhooks' three headers, with one signature for each key. */
export function signedHeaders(
  id: string,
  atMs: number,
  body: string,
  keys: readonly Buffer[],
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000))
  const signatures = keys.map(
    key => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
