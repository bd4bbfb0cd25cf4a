export const POLL_EVERY_MS = 2_000

/** Whether the server is reachable and ready. */
export function isServerReady(): Promise<boolean> {
  return fetch('/readyz', { cache: 'no-store' }).then(
    answer => answer.ok,
    () => false,
  )
}
