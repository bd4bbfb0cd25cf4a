/** Why there is no answer to a request that may have been heard, and would be another one if it came again. */
export class LostAnswer extends Error {
  constructor(cause?: unknown) {
    super('Nobody knows whether it was done.', { cause })
  }

  /** Also where the client says in words of its own that there was none. */
  static isIn(error: unknown): boolean {
    return error instanceof LostAnswer || (error instanceof Error && error.cause instanceof LostAnswer)
  }
}
