/** Whether the server is unreachable, with listeners. */
export type Away = {
  isAway(): boolean
  tell(away: boolean): void
  subscribe(listener: () => void): () => void
}

export function createAway(): Away {
  const listeners = new Set<() => void>()
  let away = false
  return {
    isAway: () => away,
    tell(now) {
      if (now === away) return
      away = now
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
