import type { proto } from 'baileys'
import type { Clock } from '../../lib/clock.ts'
import type { Random } from '../../lib/random.ts'
import type { Outgoing, OutgoingFile } from '../provider.ts'
import { readDuration } from './audio-duration.ts'
import { type EncryptedFile, encryptFile } from './encrypted-file.ts'
import type { Baileys } from './library.ts'
import type { Line } from './line.ts'
import { openFile } from './open-file.ts'
import type { Uploads } from './uploads.ts'

export type ContentDeps = {
  baileys: Pick<Baileys, 'proto' | 'getMediaKeys'>
  clock: Clock
  random: Random
  uploads: Uploads
}

/** Makes a message in the chat app's format, and uploads its file to the media servers first. */
export type Compose = (
  line: Line,
  message: Pick<Outgoing, 'text' | 'files'>,
  id: string,
  signal: AbortSignal,
) => Promise<proto.IMessage>

const MEDIA_KEY_BYTES = 32
/** Length of a message's secret, with which the chat app binds edits and the like to the message. */
const SECRET_BYTES = 32

/** `compose` rejects with `FileUnavailable` where the file cannot be read, and with another error where it cannot be uploaded. */
export function createCompose({ baileys, clock, random, uploads }: ContentDeps): Compose {
  async function uploadFile(line: Line, file: OutgoingFile, id: string, signal: AbortSignal) {
    const mediaKey = random.bytes(MEDIA_KEY_BYTES)
    const keys = await baileys.getMediaKeys(mediaKey, file.type)
    const encrypted = await encryptFile(await openFile(file, signal), keys, `posthorn-${id}`)
    try {
      const { url, directPath } = await uploads.upload(line, file.type, encrypted, signal)
      return {
        url,
        directPath,
        mediaKey,
        mediaKeyTimestamp: Math.floor(clock.now() / 1_000),
        fileSha256: encrypted.plain.sha256,
        fileEncSha256: encrypted.sha256,
        fileLength: encrypted.plain.sizeBytes,
        mimetype: file.mimetype,
        ...(file.type === 'audio' && { seconds: await secondsOf(encrypted, signal) }),
      }
    } finally {
      await encrypted.close()
    }
  }

  async function secondsOf(encrypted: EncryptedFile, signal: AbortSignal): Promise<number | null> {
    const seconds = await readDuration(clock, encrypted.readPlain, signal)
    return Math.round(seconds ?? 0) || null
  }

  async function contentOf(
    line: Line,
    { text, files: [file] }: Pick<Outgoing, 'text' | 'files'>,
    id: string,
    signal: AbortSignal,
  ): Promise<proto.IMessage> {
    if (!file) return { extendedTextMessage: { text } }
    // No thumbnail: it would need an image library, and the recipient's app makes its own.
    const placed = await uploadFile(line, file, id, signal)
    const caption = text === '' ? {} : { caption: text }
    switch (file.type) {
      case 'image':
        return { imageMessage: { ...placed, ...caption } }
      case 'video':
        return { videoMessage: { ...placed, ...caption } }
      case 'audio':
        return { audioMessage: placed }
      default:
        return { documentMessage: { ...placed, ...caption, fileName: file.fileName } }
    }
  }

  return async (line, message, id, signal) => {
    const content = await contentOf(line, message, id, signal)
    const messageContextInfo = { messageSecret: random.bytes(SECRET_BYTES) }
    return baileys.proto.Message.fromObject({ ...content, messageContextInfo })
  }
}
