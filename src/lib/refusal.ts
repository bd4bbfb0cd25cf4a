/**
 * An error that the operator can fix: its message says all that is needed, and is shown on one line without a
 * stack. `exitCode` is the exit code of the process: 1 if the machine is the cause, 2 if the command or its
 * settings are wrong.
 */
export class Refusal extends Error {
  readonly exitCode: number

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Refusal'
    this.exitCode = options.exitCode ?? 1
  }
}

/** A Refusal for a wrong command or wrong settings. */
export function misuse(message: string, cause?: unknown): Refusal {
  return new Refusal(message, { exitCode: 2, cause })
}
