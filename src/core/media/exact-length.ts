import { pipeline, type Readable, Transform } from 'node:stream'
import { FileStoreUnavailable } from '../../infra/file-store.ts'

/**
 * Passes the bytes through; fails if there are fewer or more than `lengthBytes`, and passes none beyond them.
 * A disk may lose the end of a file: the rest must not be sent as the whole file, nor make a reader wait
 * for more. A file store may have a larger file under the name, or ignore a range: surplus bytes of an HTTP
 * answer would be taken for the beginning of the next answer on the connection.
 */
export function exactLength(source: Readable, lengthBytes: number): Readable {
  let left = lengthBytes
  const gate = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length
      if (left < 0) done(new FileStoreUnavailable(new Error('there are more bytes than were stored')))
      else done(null, chunk)
    },
    flush(done) {
      done(left > 0 ? new FileStoreUnavailable(new Error(`${left} bytes are missing`)) : null)
    },
  })
  // The reader gets failures from the gate.
  pipeline(source, gate, () => {})
  return gate
}
