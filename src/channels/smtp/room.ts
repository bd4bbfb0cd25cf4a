/** A bound on the memory of mails with files: each mail is held in memory until it is sent. */
export type Room = {
  /** Waits for so many bytes, first come, first served; null when `signal` aborts before. */
  enter(bytes: number, signal: AbortSignal): Promise<Place | null>
}

export type Place = {
  /** Gives back all but so many bytes. */
  shrink(bytes: number): void
  /** Gives back the rest; call it exactly once. */
  leave(): void
}

type Waiter = { bytes: number; start(): void }

export function createRoom(mostBytes: number): Room {
  const waiting = new Set<Waiter>()
  let taken = 0

  /** A mail that is larger than the bound gets all of it, alone. */
  function fits(bytes: number): boolean {
    return taken === 0 || taken + bytes <= mostBytes
  }

  function take(bytes: number): Place {
    let held = bytes
    taken += held
    function shrink(to: number): void {
      taken -= held - to
      held = to
      admit()
    }
    return { shrink, leave: () => shrink(0) }
  }

  function admit(): void {
    for (const waiter of waiting) {
      if (!fits(waiter.bytes)) return
      waiter.start()
    }
  }

  return {
    enter(bytes, signal) {
      if (signal.aborted) return Promise.resolve(null)
      if (waiting.size === 0 && fits(bytes)) return Promise.resolve(take(bytes))
      return new Promise(resolve => {
        const end = (place: Place | null): void => {
          waiting.delete(waiter)
          signal.removeEventListener('abort', giveUp)
          resolve(place)
        }
        const giveUp = (): void => {
          end(null)
          // The next one in the queue may need less.
          admit()
        }
        const waiter: Waiter = { bytes, start: () => end(take(bytes)) }
        waiting.add(waiter)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
  }
}
