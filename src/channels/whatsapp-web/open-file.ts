import { addAbortSignal, pipeline, type Readable, Transform } from 'node:stream'
import { FileUnavailable, type OutgoingFile } from '../provider.ts'

const MEGABYTE = 1024 * 1024
/** The largest files that the chat app accepts. */
const MAX_BYTES = {
  image: 16 * MEGABYTE,
  video: 16 * MEGABYTE,
  audio: 16 * MEGABYTE,
  document: 100 * MEGABYTE,
}

/** Streams a file; the stream fails if it is too large, or when the signal aborts. Rejects with `FileUnavailable`. */
export async function openFile(file: OutgoingFile, signal: AbortSignal): Promise<Readable> {
  const most = MAX_BYTES[file.type]
  if (file.sizeBytes !== undefined && file.sizeBytes > most) throw tooLarge(file)
  const source = await file.open(signal)
  let size = 0
  const limited = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length
      done(size > most ? tooLarge(file) : null, chunk)
    },
  })
  // Either stream ends with the other; errors reach the reader by `limited`, also those before the first read.
  pipeline(source, limited, () => {})
  limited.on('error', () => {})
  return addAbortSignal(signal, limited)
}

function tooLarge({ type }: OutgoingFile): FileUnavailable {
  return new FileUnavailable(
    `WhatsApp accepts files of type ${type} up to ${MAX_BYTES[type] / MEGABYTE} MB`,
    false,
  )
}
