import { FileUnavailable, type Outcome, type RejectCode } from '../provider.ts'

/** Refused for good. */
export function rejected(code: RejectCode, detail: string): Outcome {
  return { kind: 'rejected', code, detail }
}

/** The outcome where a file could not be read before anything was sent: `retry`, unless the failure is final. */
export function outcomeOfFile(error: unknown): Outcome {
  if (!(error instanceof FileUnavailable))
    return { kind: 'retry', detail: 'The file could not be read.', notAsked: true }
  return error.retryable
    ? { kind: 'retry', detail: error.message, notAsked: true }
    : rejected('MESSAGE_REJECTED', error.message)
}
