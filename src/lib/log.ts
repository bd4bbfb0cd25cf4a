/** The log as most code sees it, passed in like the clock. The implementation (infra/log.ts) removes secrets. */
export type Log = {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  debug(fields: object, text: string): void
}
