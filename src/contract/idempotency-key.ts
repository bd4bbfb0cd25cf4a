import type { Faults } from './faults.ts'

export const MAX_KEY_CHARACTERS = 200

/** What is wrong with the key that a header gives. */
export function checkIdempotencyKey(key: string | undefined, faults: Faults): void {
  if (key === undefined || (key !== '' && key.length <= MAX_KEY_CHARACTERS)) return
  faults.add('Idempotency-Key', `must have 1 to ${MAX_KEY_CHARACTERS} characters`)
}
