declare global {
  interface Window {
    /** Asked by `assets/scheme.js`, before anything else is here; null where nobody answered. */
    posthornEarly?: Promise<Response | null> | undefined
  }
}

const EARLY = '/api/console/session'

/** The answer that was asked for before this program ran: once, and for that question alone. */
export async function takeEarly(request: Request): Promise<Response | null> {
  const early = window.posthornEarly
  if (early === undefined || request.method !== 'GET' || new URL(request.url).pathname !== EARLY) return null
  window.posthornEarly = undefined
  return early
}
