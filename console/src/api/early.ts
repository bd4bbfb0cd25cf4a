declare global {
  interface Window {
    /** Requested by `assets/scheme.js` before the other scripts run; null if there was no response. */
    posthornEarly?: Promise<Response | null> | undefined
  }
}

const EARLY_PATH = '/api/console/session'

/** The response to the request that was sent before this program ran; only once, and only for that request. */
export async function takeEarlyResponse(request: Request): Promise<Response | null> {
  const early = window.posthornEarly
  if (early === undefined || request.method !== 'GET' || new URL(request.url).pathname !== EARLY_PATH)
    return null
  window.posthornEarly = undefined
  return early
}
