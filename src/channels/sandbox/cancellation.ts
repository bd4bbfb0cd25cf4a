/** Abandons work, by its own signal or all of it at once. */
export type Cancellation = {
  /**
   * What `work` resolves to, or `stopped` where it fails, or `signal` or `stopAll`
   * came first. The work itself is not stopped.
   */
  race<T>(work: Promise<T>, signal: AbortSignal, fallback: T): Promise<T>
  cancelAll(): void
}

export function createCancellation(): Cancellation {
  // Not a shared abort signal: it would collect a listener for every send in progress.
  const inProgress = new Set<() => void>()

  return {
    race(work, signal, fallback) {
      return new Promise(resolve => {
        const stop = () => settle(fallback)
        function settle(result: typeof fallback): void {
          inProgress.delete(stop)
          signal.removeEventListener('abort', stop)
          resolve(result)
        }
        inProgress.add(stop)
        signal.addEventListener('abort', stop, { once: true })
        work.then(settle, stop)
        if (signal.aborted) stop()
      })
    },
    cancelAll() {
      for (const stop of inProgress) stop()
    },
  }
}
