import { type Clock, withinMs } from '../lib/clock.ts'

/** Whether this node should get requests. */
export type Readiness = {
  /** Why it is not ready, as a public text; null if it is ready. */
  notReadyReason(): Promise<string | null>
  /** Makes it not ready permanently, while running requests finish. */
  drain(): void
}

/** A check that takes longer has failed. */
const CHECK_TIMEOUT_MS = 2_000

/**
 * The node is ready if every check resolves in time. `checks` maps a public name to each check:
 * `{ 'the database': () => … }`.
 */
export function createReadiness(deps: {
  clock: Clock
  checks: Readonly<Record<string, () => Promise<unknown>>>
}): Readiness {
  let draining = false

  return {
    async notReadyReason() {
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
