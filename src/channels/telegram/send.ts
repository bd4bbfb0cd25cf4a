import { botMessageId } from '../../contract/bot-platform.ts'
import {
  quotableText,
  THROTTLE_MS,
  type Verdict,
  verdictOfFailure,
  verdictOfStatus,
} from '../http/verdict.ts'
import type { Io, Outcome, Outgoing, SenderUpdate } from '../provider.ts'
import { outcomeOfFile, rejected } from '../shared/outcome.ts'
import { type BotApi, type CallResult, callApi, type Refused, resultOfFileError } from './call.ts'
import { isThrottle, isUnauthorized, meaningOf } from './codes.ts'
import { escapeMarkdown } from './escape.ts'
import { type PreparedMessage, prepareMessage, rejectUnsendable, type Sent, sendPrepared } from './message.ts'
import { createPace } from './pace.ts'

type Sender = {
  send(message: Outgoing, signal: AbortSignal): Promise<Outcome>
}

/** Submits messages for bots, and reports what refusals show about bots and chats. */
export function createSender(options: {
  botApi: BotApi
  io: Io
  /** Reports what the submit shows about the link's health. */
  reportVerdict(verdict: Verdict, answered: boolean): Outcome
}): Sender {
  const { botApi, io, reportVerdict } = options
  const pace = createPace(io.clock)

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const refused = rejectUnsendable(message)
    if (refused) return refused
    const rest = pace.throttleOf(message.from!, message.to)
    if (rest) return { kind: 'throttled', ...rest, detail: STILL_THROTTLED, providerCode: '429' }
    const token = await readToken(message.from!)
    if (typeof token !== 'string') return token
    const called = await submit(message, message.to, token, signal)
    if (called.kind === 'refused' && called.movedTo !== undefined) {
      return resend({ ...message, to: called.movedTo }, message.to, token, signal)
    }
    return read(called, message, token)
  }

  async function readToken(botId: string): Promise<string | Outcome> {
    try {
      return (await io.vault.read(botId)) ?? BOT_REMOVED
    } catch {
      return { kind: 'retry', detail: 'The bot’s token could not be read from the store.' }
    }
  }

  /** Sends the message to the new id of a group that has moved; the old id has refused it. */
  async function resend(
    message: Outgoing,
    from: string,
    token: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    await emitChange(message, { kind: 'moved', chatId: from, to: message.to })
    return read(await submit(message, message.to, token, signal), message, token)
  }

  async function submit(
    message: Outgoing,
    chatId: string,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<Sent>> {
    if (signal.aborted) return { kind: 'unsent', code: 'ABORTED' }
    let prepared: PreparedMessage
    try {
      prepared = await prepareMessage(message, signal)
    } catch (error) {
      return resultOfFileError(error)
    }
    return callApi(botApi, token, methods => sendPrepared(methods, chatId, prepared), signal)
  }

  async function read(called: CallResult<Sent>, message: Outgoing, token: string): Promise<Outcome> {
    switch (called.kind) {
      case 'answer':
        return reportVerdict({ outcome: accepted(called.value, message) }, true)
      case 'unsent':
      case 'lost':
        return reportVerdict(verdictOfFailure(called), false)
      case 'unclear':
        // Not reported as a link that is down: a wrong token makes the path wrong, and concerns only one bot.
        return reportVerdict({ outcome: verdictOfStatus(called, io.clock.now()).outcome }, true)
      case 'cut':
        return reportVerdict({ outcome: outcomeOfFile(called.error) }, false)
      case 'refused':
        return reportVerdict({ outcome: await readRefusal(called, message, token) }, true)
    }
  }

  async function readRefusal(refused: Refused, message: Outgoing, token: string): Promise<Outcome> {
    const providerCode = String(refused.code)
    if (isThrottle(refused)) {
      const rest = pace.recordThrottle(message.from!, message.to, refused.afterMs ?? THROTTLE_MS)
      return { kind: 'throttled', ...rest, detail: 'Telegram answered: too many requests.', providerCode }
    }
    if (isUnauthorized(refused)) {
      await emitChange(message, { kind: 'unauthorized' })
      return { kind: 'rejected', code: 'SENDER_REJECTED', detail: REVOKED, providerCode }
    }
    const meaning = meaningOf(refused)
    if (!meaning) return { ...unknownOutcome(refused.code), providerCode }
    if (refused.code === 403) await emitChange(message, { kind: 'blocked', chatId: message.to })
    // Telegram knows the text only in its escaped form.
    const quote = quotableText(refused.description, message, [token, escapeMarkdown(message.text)])
    const detail = `${meaning.text}${quote === '' ? '.' : `: ${quote}`}`
    return { kind: 'rejected', code: meaning.code, detail, providerCode }
  }

  /** Stored before the refusal is returned, so that the API already shows the change when the sender reads the refusal. */
  async function emitChange({ accountId, from }: Outgoing, change: SenderUpdate['change']): Promise<void> {
    await io
      .emit([{ kind: 'sender', accountId, senderId: from!, change }])
      .catch(error =>
        io.log.warn(
          { err: error, change: change.kind },
          'telegram: the state of a chat or bot that a refusal shows could not be stored',
        ),
      )
  }

  return { send }
}

const STILL_THROTTLED = 'The chat or bot waits: Telegram recently answered "too many requests".'
const REVOKED = 'Telegram no longer accepts the bot’s token.'
const BOT_REMOVED = rejected('SENDER_REJECTED', 'The bot is no longer registered.')

function accepted({ chatId, messageId }: Sent, { from }: Outgoing): Outcome {
  if (!Number.isSafeInteger(messageId)) return unknownOutcome(200)
  return { kind: 'accepted', providerId: botMessageId(from!, chatId, messageId) }
}

/** A proxy, or a failing server, may have passed the message on. */
function unknownOutcome(status: number): Extract<Outcome, { kind: 'unknown' }> {
  return {
    kind: 'unknown',
    detail: `The answer (HTTP ${status}) does not say whether Telegram accepted the message.`,
    providerCode: `HTTP ${status}`,
  }
}
