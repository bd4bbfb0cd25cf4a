import type { InputFile } from 'grammy'
import type { AttachmentType } from '../../contract/enums.ts'
import { FileUnavailable, type Outcome, type Outgoing, type OutgoingFile } from '../provider.ts'
import { rejected } from '../shared/outcome.ts'
import type { Methods } from './call.ts'
import { escapeMarkdown } from './escape.ts'

/** The largest uploads of the Bot API, in bytes. Source: https://core.telegram.org/bots/api#sending-files. */
const LARGEST_PHOTO_BYTES = 10 * 1024 * 1024
const LARGEST_FILE_BYTES = 50 * 1024 * 1024

/** A rejection where Telegram has no message for this content; else null. */
export function rejectUnsendable({ from, text, files }: Outgoing): Outcome | null {
  if (from === null) return rejected('SENDER_REJECTED', 'A bot message must name its bot.')
  if (files.length > 1) return rejected('MESSAGE_REJECTED', 'A bot message can carry only one file.')
  const [file] = files
  if (!file) return text === '' ? rejected('MESSAGE_REJECTED', 'The message is empty.') : null
  const mostBytes = file.type === 'image' ? LARGEST_PHOTO_BYTES : LARGEST_FILE_BYTES
  if (file.publicUrl !== undefined || (file.sizeBytes ?? 0) <= mostBytes) return null
  const detail = `Telegram accepts ${file.type}s of at most ${mostBytes / 1_048_576} MiB.`
  return rejected('MESSAGE_REJECTED', detail)
}

/** The id of a sent message. The chat may differ from the one that was asked for, if a group has moved. */
export type Sent = { chatId: string; messageId: number }

/** A message that is ready to send. */
export type PreparedMessage = {
  text: string
  /** `source`: a URL that Telegram fetches itself, or the bytes. */
  file: { type: AttachmentType; source: string | InputFile } | null
}

/** Opens the file if we must upload it. Rejects with `FileUnavailable` where it cannot be read. */
export async function prepareMessage(
  { text, files: [file] }: Outgoing,
  signal: AbortSignal,
): Promise<PreparedMessage> {
  if (!file) return { text, file: null }
  return { text, file: { type: file.type, source: file.publicUrl ?? (await open(file, signal)) } }
}

async function open(file: OutgoingFile, signal: AbortSignal): Promise<InputFile> {
  const { InputFile } = await import('grammy')
  const bytes = await file.open(signal)
  return new InputFile(bounded(bytes, file.type), plainName(file.fileName))
}

/** Ends an upload of unknown size as soon as it is larger than Telegram takes. */
async function* bounded(bytes: NodeJS.ReadableStream, type: AttachmentType): AsyncGenerator<Buffer> {
  const mostBytes = type === 'image' ? LARGEST_PHOTO_BYTES : LARGEST_FILE_BYTES
  let sizeBytes = 0
  for await (const chunk of bytes) {
    const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    sizeBytes += part.length
    if (sizeBytes > mostBytes) throw new FileUnavailable('the file is larger than Telegram accepts', false)
    yield part
  }
}

/** grammY writes the name into a header without escaping it. */
function plainName(fileName: string): string {
  return fileName.replace(/[";\\\p{Cc}]/gu, '_')
}

/** Sends it; the text is shown as it was written. */
export async function sendPrepared(
  methods: Methods,
  chatId: string,
  { text, file }: PreparedMessage,
): Promise<Sent> {
  const words = escapeMarkdown(text)
  if (!file) {
    return sentOf(await methods.sendMessage({ chat_id: chatId, text: words, parse_mode: 'MarkdownV2' }))
  }
  const common = {
    chat_id: chatId,
    ...(words !== '' && { caption: words, parse_mode: 'MarkdownV2' as const }),
  }
  const { source } = file
  switch (file.type) {
    case 'image':
      return sentOf(await methods.sendPhoto({ ...common, photo: source }))
    case 'video':
      return sentOf(await methods.sendVideo({ ...common, video: source }))
    case 'audio':
      return sentOf(await methods.sendAudio({ ...common, audio: source }))
    case 'document':
      return sentOf(await methods.sendDocument({ ...common, document: source }))
  }
}

function sentOf({ chat, message_id: messageId }: { chat: { id: number }; message_id: number }): Sent {
  return { chatId: String(chat.id), messageId }
}
