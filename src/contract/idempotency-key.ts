import type { Faults } from './faults.ts'

export const MAX_KEY_CHARACTERS = 200

/** Counts code points, as JSON Schema does: a key that is valid in a body is valid here too. */
export function isUsableKey(key: string): boolean {
  if (key.length <= MAX_KEY_CHARACTERS) return key !== ''
  return key.length <= 2 * MAX_KEY_CHARACTERS && [...key].length <= MAX_KEY_CHARACTERS
}

/** Adds a fault if the header's key is invalid. */
export function checkIdempotencyKey(key: string | undefined, faults: Faults): void {
  if (key === undefined || isUsableKey(key)) return
  faults.add('Idempotency-Key', `must have 1 to ${MAX_KEY_CHARACTERS} characters`)
}
