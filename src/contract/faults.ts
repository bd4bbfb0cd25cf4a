import { type Detail, Problem } from './errors.ts'

/** Collects all errors of a body, so that one response reports all of them. */
export type Faults = {
  add(path: string, message: string): void
  /** Throws a VALIDATION_ERROR if there are errors. */
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
