import { pipeline, type Readable, Transform } from 'node:stream'

/** The same bytes; fails where there are more than `mostBytes`, or when `signal` aborts. */
export function bounded(source: NodeJS.ReadableStream, mostBytes: number, signal: AbortSignal): Readable {
  let left = mostBytes
  const gate = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length
      if (left < 0) done(new Error(`the file has more than ${mostBytes} bytes`))
      else done(null, chunk)
    },
  })
  const stop = () => gate.destroy(new Error('the file did not come in time'))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  // Whoever reads hears of a failure by the gate.
  pipeline(source, gate, () => signal.removeEventListener('abort', stop))
  return gate
}
