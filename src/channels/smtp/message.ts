import type { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import { toIso } from '../../lib/clock.ts'
import { FileUnavailable, type Outgoing, type OutgoingFile } from '../provider.ts'
import { type Mailbox, parseAddress } from './address.ts'
import { htmlToText } from './html-to-text.ts'
import { subjectHeader } from './subject.ts'

/** A mail as it goes over the wire, and its envelope. */
export type Mail = { from: string; to: string; messageId: string; bytes: Buffer }

/** Why no mail could be composed from a message; nothing was sent. */
export type MailError = {
  fault: 'recipient' | 'sender' | 'too_large' | 'file' | 'file_later'
  detail: string
}

/**
 * The largest mail, encoded: a little more than the limit of the common receivers (25 to 35 MB). A mail is held in memory while it is on its way; `semaphore.ts` bounds how much that is together.
 */
export const LARGEST_MAIL_BYTES = 40 * 1024 * 1024

/**
 * Encodes the whole mail before a connection is used: a file that cannot be read then
 * costs no connection, the size is known, and DKIM signs the final body.
 * Throws only when `signal` aborts.
 */
export async function composeMail(
  message: Outgoing,
  from: Mailbox | null,
  nowMs: number,
  signal: AbortSignal,
): Promise<Mail | MailError> {
  const to = parseAddress(message.to)
  if (to === null) return { fault: 'recipient', detail: 'The recipient is not a mail address.' }
  if (from === null) return { fault: 'sender', detail: 'The sender is not a mail address.' }
  const messageId = `${message.attemptId}@${from.domain}`
  const files = await openFiles(message.files, signal)
  if ('fault' in files) return files
  const composer = new MailComposer({
    from: { name: from.name, address: from.address },
    to: { name: '', address: to.address },
    subject: subjectHeader(message.subject ?? '') as string,
    messageId: `<${messageId}>`,
    date: mailDate(nowMs),
    headers: message.messageType === 'otp' ? { 'Auto-Submitted': 'auto-generated' } : {},
    ...bodyOf(message),
    attachments: message.files.map((file, at) => ({
      filename: file.fileName,
      contentType: attachmentType(file.mimetype),
      contentDisposition: 'attachment',
      content: files.streams[at]!,
    })),
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const bytes = await collect(composer.compile().createReadStream(), signal)
  return Buffer.isBuffer(bytes) ? { from: from.address, to: to.address, messageId, bytes } : bytes
}

/**
 * A bare CR must not be in a mail (RFC 5321, 2.3.8): servers turn it into a line end, and a DKIM
 * signature over the CR would no longer match.
 */
function bodyOf(message: Outgoing): { text: string; html?: string } {
  const words = message.text.replace(/\r\n?/g, '\n')
  return message.html ? { text: htmlToText(words), html: words } : { text: words }
}

/**
 * Files of type message/* and multipart/* must not be base64-encoded (RFC 2046, 5.1 and 5.2.1). Unencoded, their line
 * ends may change on the way, which breaks the DKIM signature. So they go as octet-stream; the file name keeps the type.
 */
function attachmentType(mimetype: string): string {
  return /^(?:message|multipart)\//i.test(mimetype) ? 'application/octet-stream' : mimetype
}

async function openFiles(
  files: readonly OutgoingFile[],
  signal: AbortSignal,
): Promise<{ streams: Readable[] } | MailError> {
  const opened = await Promise.allSettled(files.map(file => file.open(signal)))
  const streams = opened.flatMap(one => (one.status === 'fulfilled' ? [one.value as Readable] : []))
  const failed = opened.find(one => one.status === 'rejected')
  if (failed === undefined) return { streams }
  for (const stream of streams) stream.on('error', ignore).destroy()
  signal.throwIfAborted()
  return fileFault(failed.reason)
}

/** Reads the mail into memory, and stops where it becomes larger than LARGEST_MAIL_BYTES. */
async function collect(stream: Readable, signal: AbortSignal): Promise<Buffer | MailError> {
  const chunks: Buffer[] = []
  let size = 0
  const stop = () => stream.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const chunk of stream) {
      size += chunk.length
      if (size > LARGEST_MAIL_BYTES) {
        return { fault: 'too_large', detail: `The mail is larger than ${LARGEST_MAIL_BYTES} bytes.` }
      }
      chunks.push(chunk)
    }
  } catch (error) {
    signal.throwIfAborted()
    return fileFault(error)
  } finally {
    signal.removeEventListener('abort', stop)
  }
  signal.throwIfAborted()
  return Buffer.concat(chunks, size)
}

/** Only the files come from outside, so an error while encoding is an error of a file. */
function fileFault(error: unknown): MailError {
  const final = error instanceof FileUnavailable && !error.retryable
  const why = error instanceof FileUnavailable ? error.message : 'its stream failed'
  return { fault: final ? 'file' : 'file_later', detail: `An attachment could not be read: ${why}` }
}

/** RFC 5322, 3.3: `Thu, 01 Jan 1970 00:00:00 +0000`. */
function mailDate(atMs: number): string {
  const iso = toIso(atMs)
  const day = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')[(Math.floor(atMs / 86_400_000) + 4) % 7]
  const month = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')[Number(iso.slice(5, 7)) - 1]
  return `${day}, ${iso.slice(8, 10)} ${month} ${iso.slice(0, 4)} ${iso.slice(11, 19)} +0000`
}

function ignore(): void {}
