import type { Faults } from './faults.ts'

export const MAX_KEY_CHARACTERS = 200

/** Characters are code points, as the schemas count them: what they let pass in a body is a key. */
export function isUsableKey(key: string): boolean {
  if (key.length <= MAX_KEY_CHARACTERS) return key !== ''
  return key.length <= 2 * MAX_KEY_CHARACTERS && [...key].length <= MAX_KEY_CHARACTERS
}

/** What is wrong with the key that a header gives. */
export function checkIdempotencyKey(key: string | undefined, faults: Faults): void {
  if (key === undefined || isUsableKey(key)) return
  faults.add('Idempotency-Key', `must have 1 to ${MAX_KEY_CHARACTERS} characters`)
}
