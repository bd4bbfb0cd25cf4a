import type { BinaryNode, proto } from 'baileys'
import { beforeAbort } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { FileUnavailable, type Io, type Outcome, type Outgoing } from '../provider.ts'
import { outcomeOfFile } from '../shared/outcome.ts'
import { refusalOf } from './codes.ts'
import type { Compose } from './content.ts'
import { jidOf } from './jid.ts'
import type { Line } from './line.ts'
import { messageIdOf } from './message-id.ts'

export type SenderDeps = {
  log: Log
  compose: Compose
  /** Whether the recipient is on the chat app; null where it does not say. */
  isRegistered(phone: string): Promise<boolean | null>
  /** Remembers a sent message, for a recipient who cannot decrypt it and asks again. */
  rememberSent(id: string, sent: SentMessage): void
  reportLateOutcome: Io['reportLateOutcome']
}

/** One attempt on its way to one chat. */
type Submission = { accountId: string; attemptId: string; jid: string; id: string; message: proto.IMessage }

/** A sent message, and its recipient. */
export type SentMessage = { to: string; message: proto.IMessage }

/** Sends one message to the chat app's server, and waits for the answer. */
export function createSender({ log, compose, isRegistered, rememberSent, reportLateOutcome }: SenderDeps) {
  async function send(line: Line, message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return NO_TIME
    // The chat app has no place for it: the recipient would get the recording alone.
    if (message.files[0]?.type === 'audio' && message.text !== '') return AUDIO_WITH_TEXT
    if (message.to.startsWith('+') && (await isRegistered(message.to)) === false) return NOT_REGISTERED
    if (!line.isOpen()) return NOT_OPEN
    const id = messageIdOf(message.attemptId)
    // Reading a file may take too long.
    const prepared = await beforeAbort(prepare(line, message, id, signal), signal)
    if (prepared === null) return NO_TIME
    if ('kind' in prepared) return prepared
    // For a line that is closing, the library would still encrypt it: it would count as perhaps sent.
    if (!line.isOpen()) return NOT_OPEN
    rememberSent(id, { to: message.to, message: prepared.message })
    const { accountId, attemptId, to } = message
    return submit(line, { accountId, attemptId, jid: jidOf(to), id, message: prepared.message }, signal)
  }

  /** Reads the file and uploads it to the chat app's media servers; the recipient sees nothing before the message itself. */
  async function prepare(
    line: Line,
    message: Outgoing,
    id: string,
    signal: AbortSignal,
  ): Promise<Outcome | { message: proto.IMessage }> {
    try {
      return { message: await compose(line, message, id, signal) }
    } catch (error) {
      if (error instanceof FileUnavailable) return outcomeOfFile(error)
      return { kind: 'retry', detail: detailOf(error, 'the file could not be uploaded') }
    }
  }

  /** After a time-out the library goes on, so the message may still be sent: its outcome is then reported late. */
  async function submit(line: Line, submission: Submission, signal: AbortSignal): Promise<Outcome> {
    const outcome = outcomeOf(line, submission)
    const inTime = await beforeAbort(outcome, signal)
    if (inTime) return inTime
    const { accountId, attemptId } = submission
    void outcome
      .then(late =>
        late.kind === 'unknown' ? undefined : reportLateOutcome({ accountId, attemptId, outcome: late }),
      )
      .catch(error => log.warn({ err: error, attemptId }, 'the outcome of a late answer could not be stored'))
    return TIMED_OUT
  }

  /** Settles when the server answers, when the message can no longer be sent, or when the line ends. */
  async function outcomeOf(line: Line, { jid, id, message }: Submission): Promise<Outcome> {
    const encryptionsBefore = line.encryptions()
    const answer = line.responseTo(id)
    // The library stores its keys after the sending: a database that is away must not hide the server's answer.
    const failure = line.sock.relayMessage(jid, message, { messageId: id }).then(
      () => null,
      (error: unknown) => ({
        detail: detailOf(error, 'the message could not be sent'),
        isUnsent: provesUnsent(error) || line.encryptions() === encryptionsBefore,
      }),
    )
    const failureBeforeSending = async (): Promise<BinaryNode | string | null> => {
      const failed = await failure
      return failed?.isUnsent ? failed.detail : answer
    }
    const first = await Promise.race([answer, failureBeforeSending()])
    // After a refusal of the server the usual pauses apply: to ask at once again and again gets numbers banned.
    if (typeof first === 'string')
      return { kind: 'retry', detail: first, ...(!line.isOpen() && { afterMs: RECONNECT_MS }) }
    if (first === null) {
      return line.encryptions() === encryptionsBefore
        ? { kind: 'retry', detail: 'the connection ended before the message was sent', afterMs: RECONNECT_MS }
        : { kind: 'unknown', detail: 'the connection ended before WhatsApp answered' }
    }
    const error = first.tag === 'ack' ? first.attrs['error'] : undefined
    return error ? refusalOf(error) : { kind: 'accepted', providerId: id }
  }

  return send
}

/**
 * Whether the library's error shows that it did not write the message: the server refused a query that comes before that, or
 * the line was closed. A time-out is no proof, since it may be that of the writing.
 */
function provesUnsent(error: unknown): boolean {
  const { isBoom, output } = (error ?? {}) as { isBoom?: boolean; output?: { statusCode?: number } }
  return isBoom === true && output?.statusCode !== TIMED_OUT_CODE
}

/** In the library's errors. */
const TIMED_OUT_CODE = 408

/** A line that dropped is usually open again within a second. */
const RECONNECT_MS = 500

/** The outcome while the session is connecting; does not count as a try. */
export const NOT_OPEN: Outcome = {
  kind: 'throttled',
  afterMs: 200,
  scope: 'message',
  detail: 'the web session is connecting',
}
const TIMED_OUT: Outcome = { kind: 'unknown', detail: 'WhatsApp did not answer in time' }
const NO_TIME: Outcome = { kind: 'retry', detail: 'there was no time left to send' }
const AUDIO_WITH_TEXT: Outcome = {
  kind: 'rejected',
  code: 'MESSAGE_REJECTED',
  detail: 'An audio message cannot have a caption on WhatsApp.',
}
const NOT_REGISTERED: Outcome = {
  kind: 'rejected',
  code: 'CHATAPP_NOT_REGISTERED',
  detail: 'the number is not on WhatsApp',
}

function detailOf(error: unknown, fallback: string): string {
  return error instanceof Error && error.message !== '' ? error.message.slice(0, 200) : fallback
}
