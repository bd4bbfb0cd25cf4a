/** Abandons work, by its own signal or all of it at once. */
export type Stops = {
  /**
   * What `work` resolves to, or `stopped` where it fails, or `signal` or `stopAll`
   * came first. The work itself is not stopped.
   */
  race<T>(work: Promise<T>, signal: AbortSignal, stopped: T): Promise<T>
  stopAll(): void
}

export function createStops(): Stops {
  // Not a shared abort signal: it would collect a listener for every send in progress.
  const underWay = new Set<() => void>()

  return {
    race(work, signal, stopped) {
      return new Promise(resolve => {
        const stop = () => settle(stopped)
        function settle(result: typeof stopped): void {
          underWay.delete(stop)
          signal.removeEventListener('abort', stop)
          resolve(result)
        }
        underWay.add(stop)
        signal.addEventListener('abort', stop, { once: true })
        work.then(settle, stop)
        if (signal.aborted) stop()
      })
    },
    stopAll() {
      for (const stop of underWay) stop()
    },
  }
}
