import type { BinaryNode, proto } from 'baileys'
import { FileUnavailable, type LinkLog, type Outcome, type Outgoing } from '../provider.ts'
import { refusalOf } from './codes.ts'
import { toContent } from './content.ts'
import { jidOf } from './jid.ts'
import type { Baileys } from './library.ts'
import type { Line } from './line.ts'
import { messageIdOf } from './message-id.ts'
import { createQuietLog } from './quiet-log.ts'

export type SenderDeps = {
  baileys: Baileys
  log: LinkLog
  /** Whether the recipient is on the chat app; null where nobody says. */
  isThere(phone: string): Promise<boolean | null>
  /** Kept for a recipient who cannot read it at first. */
  sent(id: string, sent: SentMessage): void
}

/** What went out, and to whom. */
export type SentMessage = { to: string; message: proto.IMessage }

/** Takes one message to the chat app's server, and waits for its word. */
export function createSender({ baileys, log, isThere, sent }: SenderDeps) {
  const logger = createQuietLog(log)

  async function send(line: Line, message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return NO_TIME
    if (message.to.startsWith('+') && (await isThere(message.to)) === false) return NOT_THERE
    if (line.isOver()) return NOT_OPEN
    const id = messageIdOf(message.attemptId)
    const words = await prepare(line, message, id, signal)
    if ('kind' in words) return words
    if (signal.aborted) return NO_TIME
    sent(id, { to: message.to, message: words.message })
    return submit(line, { jid: jidOf(message.to), id, message: words.message }, signal)
  }

  /** Reads the file and puts it on the chat app's media servers: nothing of it shows before the message does. */
  async function prepare(
    { sock }: Line,
    message: Outgoing,
    messageId: string,
    signal: AbortSignal,
  ): Promise<Outcome | { message: proto.IMessage }> {
    try {
      const content = await toContent(message, signal)
      const made = await baileys.generateWAMessage(jidOf(message.to), content, {
        logger,
        userJid: sock.user?.id ?? '',
        messageId,
        upload: sock.waUploadToServer,
        mediaUploadTimeoutMs: UPLOAD_TIMEOUT_MS,
      })
      return made.message ? { message: made.message } : NOTHING_TO_SAY
    } catch (error) {
      if (error instanceof FileUnavailable && !error.retryable) {
        return { kind: 'rejected', code: 'MESSAGE_REJECTED', detail: error.message }
      }
      return { kind: 'retry', detail: detailOf(error, 'the file could not be handed over') }
    }
  }

  async function submit(
    line: Line,
    { jid, id, message }: { jid: string; id: string; message: proto.IMessage },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const sealedBefore = line.sealed()
    const answer = line.answerTo(id, signal)
    // What it sealed is kept behind the sending: a database that is away must not hide the answer.
    const failure = line.sock.relayMessage(jid, message, { messageId: id }).then(
      () => null,
      (error: unknown) => detailOf(error, 'the message could not be handed over'),
    )
    const failsUnsealed = async (): Promise<BinaryNode | string | null> => {
      const detail = await failure
      return detail !== null && line.sealed() === sealedBefore ? detail : answer
    }
    const first = await Promise.race([answer, failsUnsealed()])
    if (typeof first === 'string') return { kind: 'retry', detail: first, afterMs: SOON_MS }
    if (first === null) return unanswered(line, sealedBefore)
    const error = first.tag === 'ack' ? first.attrs['error'] : undefined
    return error ? refusalOf(error) : { kind: 'accepted', providerId: id }
  }

  /** Nothing leaves a line that is over; on one that lives, the library goes on with what it was given. */
  function unanswered(line: Line, sealedBefore: number): Outcome {
    if (!line.isOver()) return { kind: 'unknown', detail: 'WhatsApp did not answer in time' }
    return line.sealed() === sealedBefore
      ? { kind: 'retry', detail: 'the connection ended before the message could leave', afterMs: SOON_MS }
      : { kind: 'unknown', detail: 'the connection ended before WhatsApp answered' }
  }

  return send
}

const UPLOAD_TIMEOUT_MS = 25_000
/** A line that dropped is open again within a second, as a rule. */
const SOON_MS = 500

/** Of a message that came while the session was connecting: no try of its own. */
export const NOT_OPEN: Outcome = {
  kind: 'throttled',
  afterMs: 200,
  scope: 'message',
  detail: 'the web session is connecting',
}
const NO_TIME: Outcome = { kind: 'retry', detail: 'there was no time left to send' }
const NOT_THERE: Outcome = {
  kind: 'rejected',
  code: 'CHATAPP_NOT_REGISTERED',
  detail: 'the number is not on WhatsApp',
}
const NOTHING_TO_SAY: Outcome = {
  kind: 'rejected',
  code: 'MESSAGE_REJECTED',
  detail: 'the message says nothing',
}

function detailOf(error: unknown, fallback: string): string {
  return error instanceof Error && error.message !== '' ? error.message.slice(0, 200) : fallback
}
