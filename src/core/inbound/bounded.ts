import { pipeline, type Readable, Transform } from 'node:stream'

/**
 * Passes the bytes through; fails if there are more than `mostBytes`, when `signal` aborts, or as the source does.
 * `failureOf` makes the error that the reader gets: that of the source may look like a fault of the reader's own connection.
 */
export function bounded(
  source: NodeJS.ReadableStream,
  mostBytes: number,
  signal: AbortSignal,
  failureOf: (cause: Error) => Error,
): Readable {
  let left = mostBytes
  const gate = new Transform({
    destroy(error, done) {
      done(error && failureOf(error))
    },
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length
      if (left < 0) done(new Error(`the file has more than ${mostBytes} bytes`))
      else done(null, chunk)
    },
  })
  const stop = () => gate.destroy(new Error('the file was not received in time'))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  // The reader gets failures from the gate.
  pipeline(source, gate, () => signal.removeEventListener('abort', stop))
  return gate
}
