/** A random id for idempotency. `crypto.randomUUID` is not available on plain http. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
