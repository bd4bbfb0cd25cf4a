import { type Detail, Problem } from './errors.ts'

/** Gathers all that is wrong with a body before it is refused, so that one answer names it all. */
export type Faults = {
  add(path: string, message: string): void
  /** Throws a VALIDATION_ERROR when there was any. */
  check(): void
}

export function createFaults(): Faults {
  const details: Detail[] = []
  return {
    add(path, message) {
      details.push({ path, message })
    },
    check() {
      const first = details[0]
      if (!first) return
      throw new Problem('VALIDATION_ERROR', `${first.path}: ${first.message}`, { details })
    },
  }
}
