import { createHmac } from 'node:crypto'
import type { Random } from '../../lib/random.ts'

/** Standard Webhooks' mark of a secret that is base64 (spec, "Signature scheme"). */
const PREFIX = 'whsec_'
/** Within the 24 to 64 bytes that the specification asks for. */
const SECRET_BYTES = 32

export function createWebhookSecret(random: Random): string {
  return PREFIX + random.bytes(SECRET_BYTES).toString('base64')
}

/** The key behind a secret of our own making. */
export function keyOfWebhookSecret(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64')
}

/**
 * The keys behind a secret that a user chose: its bytes as they are. One that is
 * written as Standard Webhooks writes them is also taken as its libraries read it.
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
