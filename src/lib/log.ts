/**
 * What the code writes to the log through, handed in like the clock. The log itself (infra/log.ts) keeps secrets out of
 * the lines.
 */
export type Log = {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  debug(fields: object, text: string): void
}
