/** Where somebody comes from. */
export type Visit = {
  ip: string
  userAgent: string | null
  /** By which name the server was reached, as the browser says, without its port. */
  host: string
  /** A proxy stands between: the address is not the visitor's. */
  forwarded: boolean
}
