/** Waits for states whose changes are announced by `notify`, without a clock or polling. */
export type Signals = {
  notify(): void
  /** Resolves at once, or at the `notify` after which `holds` is true. */
  until(holds: () => boolean): Promise<void>
}

export function createSignals(): Signals {
  const waiting = new Set<() => void>()
  return {
    notify() {
      for (const look of waiting) look()
    },
    until: holds =>
      new Promise(resolve => {
        const look = (): void => {
          if (!holds()) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

/** Runs the event loop until `holds`; for states that are not announced. */
export async function turnsUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setImmediate(resolve))
}
