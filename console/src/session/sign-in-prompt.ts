/** Requests whose session has ended wait here for the person to sign in again. */
export type SignInPrompt = {
  /** True once they have signed in again, false if they decline. */
  open(): Promise<boolean>
  close(signedIn: boolean): void
  isOpen(): boolean
  subscribe(listener: () => void): () => void
}

export function createSignInPrompt(): SignInPrompt {
  const listeners = new Set<() => void>()
  let waiting: { promise: Promise<boolean>; resolve(signedIn: boolean): void } | null = null

  function notify(): void {
    for (const listener of listeners) listener()
  }

  return {
    open() {
      if (!waiting) {
        waiting = Promise.withResolvers<boolean>()
        notify()
      }
      return waiting.promise
    },
    close(signedIn) {
      waiting?.resolve(signedIn)
      waiting = null
      notify()
    },
    isOpen: () => waiting !== null,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
