import { pipeline, type Readable, Transform } from 'node:stream'
import { FileStoreUnavailable } from '../../infra/file-store.ts'

/**
 * The same bytes; fails where they end before there are `lengthBytes` of them. A disk may lose the end of a file,
 * and what is left of it must not go out as the whole, nor keep a reader waiting for the rest.
 */
export function whole(source: Readable, lengthBytes: number): Readable {
  let left = lengthBytes
  const gate = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length
      done(null, chunk)
    },
    flush(done) {
      done(left > 0 ? new FileStoreUnavailable(new Error(`${left} bytes are missing`)) : null)
    },
  })
  // Whoever reads hears of a failure by the gate.
  pipeline(source, gate, () => {})
  return gate
}
