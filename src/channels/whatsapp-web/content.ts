import { pipeline, Transform } from 'node:stream'
import type { AnyMessageContent, WAMediaUpload } from 'baileys'
import { FileUnavailable, type Outgoing, type OutgoingFile } from '../provider.ts'

const MEGABYTE = 1024 * 1024
/** What the chat app takes. */
const MOST_BYTES = {
  image: 16 * MEGABYTE,
  video: 16 * MEGABYTE,
  audio: 16 * MEGABYTE,
  document: 100 * MEGABYTE,
}

/** A message in the library's words. Rejects with `FileUnavailable` where its file cannot be had. */
export async function toContent(
  { text, files }: Pick<Outgoing, 'text' | 'files'>,
  signal: AbortSignal,
): Promise<AnyMessageContent> {
  const file = files[0]
  if (!file) return { text, linkPreview: null }
  const media = await openMedia(file, signal)
  const { mimetype, fileName } = file
  const caption = text === '' ? {} : { caption: text }
  // No thumbnail: it would take a library of pictures, and the recipient's app makes its own.
  const bare = { jpegThumbnail: null as unknown as string }
  switch (file.type) {
    case 'image':
      return { image: media, mimetype, ...caption, ...bare }
    case 'video':
      return { video: media, mimetype, ...caption, ...bare }
    case 'audio':
      return { audio: media, mimetype }
    default:
      return { document: media, mimetype, fileName, ...caption }
  }
}

async function openMedia(file: OutgoingFile, signal: AbortSignal): Promise<WAMediaUpload> {
  const most = MOST_BYTES[file.type]
  if (file.sizeBytes !== undefined && file.sizeBytes > most) throw tooLarge(file)
  const source = await file.open(signal)
  let size = 0
  const limited = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length
      done(size > most ? tooLarge(file) : null, chunk)
    },
  })
  // Either ends with the other; whoever reads hears of a failure by what is limited.
  pipeline(source, limited, () => {})
  return { stream: limited }
}

function tooLarge({ type }: OutgoingFile): FileUnavailable {
  return new FileUnavailable(`a file of type ${type} has at most ${MOST_BYTES[type] / MEGABYTE} MB`, false)
}
