/** Whether the server is unreachable, with listeners. */
export type Reachability = {
  isUnreachable(): boolean
  setUnreachable(away: boolean): void
  subscribe(listener: () => void): () => void
}

export function createReachability(): Reachability {
  const listeners = new Set<() => void>()
  let isDown = false
  return {
    isUnreachable: () => isDown,
    setUnreachable(now) {
      if (now === isDown) return
      isDown = now
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
