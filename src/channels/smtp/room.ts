/** Memory for mails with files, of which each is held whole while it is on its way: so much of them at once, and no more. */
export type Room = {
  /** A place of so many bytes, as soon as there is one, first come, first served; null when `signal` aborts before. */
  enter(bytes: number, signal: AbortSignal): Promise<Place | null>
}

export type Place = {
  /** So much is enough from here on. */
  shrink(bytes: number): void
  /** Exactly once. */
  leave(): void
}

type Waiter = { bytes: number; start(): void }

export function createRoom(mostBytes: number): Room {
  const waiting = new Set<Waiter>()
  let taken = 0

  /** One that is larger than the room gets all of it. */
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
          // Whoever waited behind this one may need less.
          admit()
        }
        const waiter: Waiter = { bytes, start: () => end(take(bytes)) }
        waiting.add(waiter)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
  }
}
