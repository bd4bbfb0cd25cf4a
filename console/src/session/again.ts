/** Requests whose session has ended wait here for the person to sign in again. */
export type Again = {
  /** True once they have signed in again, false if they decline. */
  ask(): Promise<boolean>
  answer(signedIn: boolean): void
  isAsked(): boolean
  subscribe(listener: () => void): () => void
}

export function createAgain(): Again {
  const listeners = new Set<() => void>()
  let waiting: { promise: Promise<boolean>; resolve(signedIn: boolean): void } | null = null

  function tell(): void {
    for (const listener of listeners) listener()
  }

  return {
    ask() {
      if (!waiting) {
        waiting = Promise.withResolvers<boolean>()
        tell()
      }
      return waiting.promise
    },
    answer(signedIn) {
      waiting?.resolve(signedIn)
      waiting = null
      tell()
    },
    isAsked: () => waiting !== null,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
