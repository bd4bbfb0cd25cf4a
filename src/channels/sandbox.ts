import { Type } from 'typebox'
import { CHANNELS } from '../contract/enums.ts'
import type { SandboxMedia } from '../contract/sandbox.ts'
import { SANDBOX } from '../contract/sandbox.ts'
import type { ReceivedMessage, SandboxInbox } from '../contract/sandbox-inbox.ts'
import { type AccountId, type MessageId, timeOf } from '../lib/ids.ts'
import type {
  Io,
  Link,
  LinkTest,
  OfficialIdentity,
  Outcome,
  Outgoing,
  OutgoingTemplate,
  Provider,
} from './provider.ts'
import { createCancellation } from './sandbox/cancellation.ts'
import { type Prepared, readFiles } from './sandbox/files.ts'
import { createReceiptEmitter, reasonOf, receiptOf } from './sandbox/receipts.ts'
import { type Acceptance, explainCode, NOT_REGISTERED, type Refusal, scriptOf } from './sandbox/script.ts'
import { createTemplateReview } from './sandbox/templates.ts'
import { PLAIN_TEXT } from './shared/policy.ts'

const CONCURRENCY = 200
/** How long the lane of an account rests for the ending 0006. */
const THROTTLE_MS = 5_000
/** Delay of the next try after a failure of the ending 0003. */
const FAILURE_MS = 200
/** How long the ending 0005 waits for its answer: longer than a single send waits. */
const ANSWER_MS = 3_000
/** Delay of the next try when the inbox could not be written. */
const INBOX_MS = 1_000

/**
 * A provider that sends nothing, on every channel: it stores messages in `inbox`, and behaves as
 * the recipient's ending says (`docs/sandbox.md`).
 */
export function createSandboxProvider(options: { inbox: SandboxInbox }): Provider {
  return {
    key: SANDBOX,
    channels: CHANNELS,
    policy: {
      ...PLAIN_TEXT,
      supportsUserSender: true,
      supportsSystemSenderFallback: true,
      retryPolicy: { maxAttempts: 5, backoffMs: 500 },
    },
    config: Type.Object({}, { additionalProperties: false }),
    secrets: [],
    // Like most carriers: what is unknown here stays unknown, as it would there.
    dedupes: false,
    explain: explainCode,
    open: async (_config, io) => openLink(options.inbox, io),
  }
}

/** Nothing was stored yet, so a repeat cannot store the message twice. */
const CANCELLED: Outcome = {
  kind: 'retry',
  detail: 'The sandbox was stopped before it accepted the message.',
}
const UNKNOWN: Outcome = {
  kind: 'unknown',
  detail: 'The sandbox may have accepted the message, but gave no answer.',
}

function openLink(inbox: SandboxInbox, io: Io): Link {
  const emitter = createReceiptEmitter(inbox, io)
  const review = createTemplateReview(inbox, io)
  const cancellation = createCancellation()
  let closed = false

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    if (closed || signal.aborted) return CANCELLED
    const script = scriptOf(message.channel, message.to)
    if (script.act === 'refuse') return rejection(script)
    if (message.attempt <= script.failures) return failure(message)
    const prepared = await cancellation.race(prepare(message, script, signal), signal, CANCELLED)
    if ('kind' in prepared) return prepared
    if (closed || signal.aborted) return CANCELLED
    return cancellation.race(submit(message, script, prepared.media), signal, UNKNOWN)
  }

  async function prepare(
    message: Outgoing,
    script: Acceptance,
    signal: AbortSignal,
  ): Promise<Prepared | Outcome> {
    return (
      (script.throttles ? await checkThrottle(message) : null) ?? (await readFiles(filesOf(message), signal))
    )
  }

  async function checkThrottle(message: Outgoing): Promise<Outcome | null> {
    const nowMs = io.clock.now()
    try {
      const untilMs = await inbox.throttledUntil({
        accountId: message.accountId as AccountId,
        recipient: message.to,
        acceptedAtMs: timeOf(message.messageId as MessageId),
        nowMs,
        throttleMs: THROTTLE_MS,
      })
      return untilMs <= nowMs ? null : throttle(untilMs - nowMs)
    } catch (error) {
      return inboxFailed(error)
    }
  }

  async function submit(message: Outgoing, script: Acceptance, media: Prepared['media']): Promise<Outcome> {
    const nowMs = io.clock.now()
    const taken = toTakenMessage(message, script, media, nowMs, io)
    try {
      await inbox.store(taken)
    } catch (error) {
      return inboxFailed(error)
    }
    if (!script.answers) return noAnswer()
    const providerId = providerIdOf(message)
    if (script.receiptFirst) await io.emit([receiptOf(providerId, 'delivered', nowMs)])
    return { kind: 'accepted', providerId }
  }

  /** The message is stored, but not answered: like a provider whose answer was lost. */
  function noAnswer(): Promise<Outcome> {
    return new Promise(resolve => io.clock.after(ANSWER_MS, () => resolve(UNKNOWN)))
  }

  /** The inbox stores an attempt once, so a repeat is safe even if this write succeeded. */
  function inboxFailed(error: unknown): Outcome {
    io.log.warn({ reason: reasonOf(error) }, 'sandbox: the inbox cannot be written')
    return { kind: 'retry', detail: 'The inbox of the sandbox cannot be written.', afterMs: INBOX_MS }
  }

  /** A sandbox works when its inbox answers. */
  async function test(signal: AbortSignal): Promise<LinkTest> {
    const answers = inbox.nextReceiptAt(io.connectionId, io.clock.now()).then(() => true)
    const ok = await cancellation.race(answers, signal, false)
    return { ok, detail: ok ? 'The inbox answers.' : 'The inbox does not answer.' }
  }

  return {
    concurrency: CONCURRENCY,
    send,
    // Only called for chat-app channels: others have no registration.
    reaches: async to => scriptOf('user_chatapp_session', to) !== NOT_REGISTERED,
    submitTemplate: review.submit,
    readTemplate: review.read,
    deleteTemplate: review.remove,
    identity: async () => IDENTITY,
    test,
    async close() {
      closed = true
      cancellation.cancelAll()
      await Promise.all([emitter.close(), review.close()])
    },
  }
}

function rejection({ code, detail, providerCode }: Refusal): Outcome {
  return { kind: 'rejected', code, detail, providerCode }
}

function failure({ attempt }: Outgoing): Outcome {
  const detail = `The sandbox fails twice for recipients that end in 0003; this was try ${attempt}.`
  return { kind: 'retry', detail, providerCode: '0003', afterMs: FAILURE_MS }
}

function throttle(afterMs: number): Outcome {
  const detail = 'The sandbox throttles the account for recipients that end in 0006.'
  return { kind: 'throttled', scope: 'account', afterMs, detail, providerCode: '0006' }
}

/** The sandbox's identity on the official channel: a number that belongs to nobody. */
const IDENTITY: OfficialIdentity = {
  phoneNumber: '+12025550100',
  displayName: 'Posthorn Sandbox',
  qualityRating: 'GREEN',
  messagingLimit: 'TIER_UNLIMITED',
  status: 'CONNECTED',
}

function filesOf({ files, template }: Outgoing): Outgoing['files'] {
  const header = template?.header
  return header && header.type !== 'text' ? [header.file] : files
}

function toTakenMessage(
  message: Outgoing,
  script: Acceptance,
  media: Prepared['media'],
  nowMs: number,
  io: Io,
): ReceivedMessage {
  return {
    connectionId: io.connectionId,
    accountId: message.accountId as AccountId,
    messageId: message.messageId as MessageId,
    receivedAtMs: nowMs,
    content: {
      channel: message.channel,
      to: message.to,
      sender: message.from,
      subject: message.subject,
      text: message.html ? null : message.text,
      html: message.html ? message.text : null,
      // The file of a template's header is shown with the template.
      media: message.template === null ? media : null,
      template: message.template && toSandboxTemplate(message.template, media?.[0] ?? null),
      attempts: message.attempt,
    },
    receipts: script.receipts.map(({ status, afterMs }) => ({
      providerId: providerIdOf(message),
      status,
      dueAtMs: nowMs + afterMs,
    })),
  }
}

function toSandboxTemplate(template: OutgoingTemplate, media: SandboxMedia | null) {
  const { name, language, header, body, buttons } = template
  return {
    name,
    language,
    header: header && {
      type: header.type,
      variables: header.type === 'text' ? [...header.variables] : null,
      media: header.type === 'text' ? null : media,
    },
    body: [...body],
    buttons: buttons.map(button => ({ ...button })),
  }
}

/** One id for every attempt, like a provider that does not know our message ids. */
function providerIdOf({ messageId, attempt }: Outgoing): string {
  return `sbx_${messageId.slice(4)}_${attempt}`
}
