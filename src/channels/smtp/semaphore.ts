/** A bound on the memory of mails with files: each mail is held in memory until it is sent. */
export type Semaphore = {
  /** Waits for so many bytes, first come, first served; null when `signal` aborts before. */
  acquire(bytes: number, signal: AbortSignal): Promise<Permit | null>
}

export type Permit = {
  /** Gives back all but so many bytes. */
  shrink(bytes: number): void
  /** Gives back the rest; call it exactly once. */
  release(): void
}

type Waiter = { bytes: number; start(): void }

export function createSemaphore(limit: number): Semaphore {
  const waiting = new Set<Waiter>()
  let taken = 0

  /** A mail that is larger than the bound gets all of it, alone. */
  function fits(bytes: number): boolean {
    return taken === 0 || taken + bytes <= limit
  }

  function grant(bytes: number): Permit {
    let held = bytes
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
      if (!fits(waiter.bytes)) return
      waiter.start()
    }
  }

  return {
    acquire(bytes, signal) {
      if (signal.aborted) return Promise.resolve(null)
      if (waiting.size === 0 && fits(bytes)) return Promise.resolve(grant(bytes))
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
        const waiter: Waiter = { bytes, start: () => end(grant(bytes)) }
        waiting.add(waiter)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
  }
}
