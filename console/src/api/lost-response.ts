/** The response to a request was lost that may have been processed, and must not be repeated. */
export class LostResponse extends Error {
  constructor(cause?: unknown) {
    super('The response was lost: the request may have been processed.', { cause })
  }

  /** Also if the SDK has wrapped it in an error of its own. */
  static isIn(error: unknown): boolean {
    return error instanceof LostResponse || (error instanceof Error && error.cause instanceof LostResponse)
  }
}
