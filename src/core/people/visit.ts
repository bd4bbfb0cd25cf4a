/** Where a request of a person comes from. */
export type Visit = {
  ip: string
  userAgent: string | null
  /** The browser's mark as sent, not verified yet; see `browsers.ts`. */
  browser: string | null
  /** The Host header, without its port. */
  host: string
  /** The request came through a proxy: the IP address is not the visitor's. */
  forwarded: boolean
}
