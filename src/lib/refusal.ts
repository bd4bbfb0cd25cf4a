/**
 * Something that the operator can mend: the message is the whole story, shown
 * on one line and without a stack. `exitCode` is the process's: 1 when the
 * machine stands in the way, 2 when the command or its settings are wrong.
 */
export class Refusal extends Error {
  readonly exitCode: number

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Refusal'
    this.exitCode = options.exitCode ?? 1
  }
}

/** A refusal of the command or its settings, which are wrong. */
export function misuse(message: string, cause?: unknown): Refusal {
  return new Refusal(message, { exitCode: 2, cause })
}
