/** Where somebody comes from. */
export type Visit = {
  ip: string
  userAgent: string | null
  /** A proxy stands between: the address is not the visitor's. */
  forwarded: boolean
}
