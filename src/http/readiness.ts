import { type Clock, withinMs } from '../lib/clock.ts'

/** Whether this node should be sent requests. */
export type Readiness = {
  /** Why it should not, in a few public words; null when it should. */
  obstacle(): Promise<string | null>
  /** Turns readiness off for good, while requests under way finish. */
  drain(): void
}

/** A check that takes longer has failed. */
const CHECK_TIMEOUT_MS = 2_000

/**
 * Ready is when every check resolves in time. `checks` maps what is checked,
 * in public words, to the check: `{ 'the database': () => … }`.
 */
export function createReadiness(deps: {
  clock: Clock
  checks: Readonly<Record<string, () => Promise<unknown>>>
}): Readiness {
  let draining = false

  return {
    async obstacle() {
      if (draining) return 'The service is shutting down.'
      for (const [subject, check] of Object.entries(deps.checks)) {
        const passed = await withinMs(
          deps.clock,
          CHECK_TIMEOUT_MS,
          check().then(() => true as const),
        )
        if (!passed) return `Waiting for ${subject}.`
      }
      return null
    },
    drain() {
      draining = true
    },
  }
}
