/** Where somebody comes from. */
export type Visit = {
  ip: string
  userAgent: string | null
  /** The mark of a browser in which somebody has come in before, as it says; see `browsers.ts`. */
  browser: string | null
  /** By which name the server was reached, as the browser says, without its port. */
  host: string
  /** A proxy stands between: the address is not the visitor's. */
  forwarded: boolean
}
