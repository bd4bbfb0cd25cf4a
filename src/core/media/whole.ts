import { pipeline, type Readable, Transform } from 'node:stream'
import { FileStoreUnavailable } from '../../infra/file-store.ts'

/**
 * The same bytes; fails where they end before there are `lengthBytes` of them, and lets none through behind those.
 * A disk may lose the end of a file, and what is left of it must not go out as the whole, nor keep a reader waiting
 * for the rest. A store may have another file under the name, or overlook that a part was asked for: what is too
 * much of an answer would be taken for the beginning of the next on its connection.
 */
export function whole(source: Readable, lengthBytes: number): Readable {
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
  // Whoever reads hears of a failure by the gate.
  pipeline(source, gate, () => {})
  return gate
}
