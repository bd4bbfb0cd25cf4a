import type { MediaType } from 'baileys'
import { FileUnavailable } from '../provider.ts'
import type { Baileys } from './library.ts'

/** Where the chat app keeps the files of messages. */
const MEDIA_HOST = 'mmg.whatsapp.net'

/** Opens a file that came with a message (inbound.ts has written the reference). */
export async function openMediaOf(
  { downloadContentFromMessage }: Baileys,
  reference: string,
  signal: AbortSignal,
): Promise<NodeJS.ReadableStream> {
  const { as, path, key } = JSON.parse(reference) as { as: MediaType; path: string; key: string }
  // Whoever sent it wrote the path: it must stay one.
  if (!/^\/[^/]/.test(path)) throw new FileUnavailable('the file of this message lies nowhere', false)
  try {
    const file = { directPath: path, mediaKey: Buffer.from(key, 'base64') }
    const stream = await downloadContentFromMessage(file, as, {
      host: MEDIA_HOST,
      options: { signal } as object,
    })
    return stream
  } catch (cause) {
    const gone = /404|410/.test(cause instanceof Error ? cause.message : '')
    throw new FileUnavailable('the file of this message cannot be had from WhatsApp', !gone)
  }
}
