/** A bound on what is in use at once: bytes in memory, or processes. */
export type Semaphore = {
  /** Waits for so much of it, first come, first served; null when `signal` aborts before. */
  acquire(amount: number, signal: AbortSignal): Promise<Permit | null>
}

export type Permit = {
  /** Gives back all but so much. */
  shrink(amount: number): void
  /** Gives back the rest; call it exactly once. */
  release(): void
}

type Waiter = { amount: number; start(): void }

export function createSemaphore(limit: number): Semaphore {
  const waiting = new Set<Waiter>()
  let taken = 0

  /** One that needs more than the bound gets all of it, alone. */
  function fits(amount: number): boolean {
    return taken === 0 || taken + amount <= limit
  }

  function grant(amount: number): Permit {
    let held = amount
    taken += held
    function shrink(to: number): void {
      taken -= held - to
      held = to
      grantWaiters()
    }
    return { shrink, release: () => shrink(0) }
  }

  function grantWaiters(): void {
    for (const waiter of waiting) {
      if (!fits(waiter.amount)) return
      waiter.start()
    }
  }

  return {
    acquire(amount, signal) {
      if (signal.aborted) return Promise.resolve(null)
      if (waiting.size === 0 && fits(amount)) return Promise.resolve(grant(amount))
      return new Promise(resolve => {
        const end = (place: Permit | null): void => {
          waiting.delete(waiter)
          signal.removeEventListener('abort', giveUp)
          resolve(place)
        }
        const giveUp = (): void => {
          end(null)
          // The next one in the queue may need less.
          grantWaiters()
        }
        const waiter: Waiter = { amount, start: () => end(grant(amount)) }
        waiting.add(waiter)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
  }
}
