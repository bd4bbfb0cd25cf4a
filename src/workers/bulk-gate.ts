/**
 * Rows of all lanes that are on their way to be messages at once. Thousands may be due in
 * the same moment: each is worth some 20 µs of the one thread, and whoever asks for
 * something else meanwhile waits for all that were let in together.
 */
export type BulkGate = {
  /** Takes a place if there is one. */
  tryEnter(): boolean
  leave(): void
  /** Calls `run` when there is a place again, once; in the order of asking. */
  wait(run: () => void): void
}

export function createBulkGate(places: number): BulkGate {
  const waiting = new Set<() => void>()
  let inside = 0
  let planned = false

  function letIn(): void {
    planned = false
    for (const run of waiting) {
      if (inside >= places) return
      waiting.delete(run)
      run()
    }
  }

  return {
    tryEnter() {
      if (inside >= places) return false
      inside++
      return true
    },
    leave() {
      inside--
      if (planned || waiting.size === 0) return
      planned = true
      // Behind what came in meanwhile, and behind others that leave in the same turn.
      setImmediate(letIn)
    },
    wait(run) {
      waiting.add(run)
    },
  }
}
