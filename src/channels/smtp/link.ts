import { isIP } from 'node:net'
import type { Options as PoolOptions } from 'nodemailer/lib/smtp-pool'
import type { Io, Link, LinkState, Outcome, Outgoing, OutgoingFile } from '../provider.ts'
import { createReport } from '../shared/report.ts'
import { type Mailbox, parseMailbox } from './address.ts'
import { createBeyondAscii, isBeyondAscii } from './beyond-ascii.ts'
import { askExtensions, checkServer } from './check.ts'
import { CONNECTIONS, type SmtpConfig } from './config.ts'
import { createDeliveries, type Delivery } from './delivery.ts'
import { createDkimSigner, type DkimSigner } from './dkim.ts'
import { composeMail, LARGEST_MAIL_BYTES, type Mail } from './message.ts'
import {
  outcomeBeyondAscii,
  outcomeOfFault,
  outcomeOfReply,
  outcomeOfUnmailable,
  type SmtpFault,
} from './outcome.ts'
import { createRoom, type Place } from './room.ts'

/** Connecting has its own deadlines: a host that swallows packets must not hold a mail for minutes. */
const DNS_MS = 5_000
const CONNECT_MS = 10_000
const GREETING_MS = 10_000

/**
 * Silence on an open connection, also after the mail's end, where a filter may think for long
 * (RFC 5321, 4.5.3.2.6 asks for ten minutes). The caller's signal mostly comes first.
 */
const SILENCE_MS = 300_000

/**
 * What mails with files may take of memory together, on one connection. While one is made there are its pieces,
 * the whole and, where it is signed, a copy of it; on its way the whole alone.
 */
const MOST_IN_MEMORY_BYTES = 6 * LARGEST_MAIL_BYTES
const COPIES_WHILE_MADE = 2

/** Times a mail is moved off a connection that had died before a byte of it left. */
const STALE_CONNECTIONS = 2

/** Opens the pool; throws where the sender or the key is unfit. */
export function openLink(config: SmtpConfig, io: Io): Link {
  const from = parseMailbox(config.from)
  if (from === null) throw new Error('from is not a mail address')
  const sign = config.dkim && createDkimSigner(config.dkim)
  const options = poolOptions(config)
  const login = config.user && config.password ? { user: config.user, pass: config.password } : null
  const room = createRoom(MOST_IN_MEMORY_BYTES)
  const copies = COPIES_WHILE_MADE + Number(sign !== undefined)
  const deliveries = createDeliveries({ ...options, ...(login && { auth: login }) })
  const beyondAscii = createBeyondAscii(signal => askExtensions(options, signal), io.clock)
  const report = createReport(io, 'smtp: the server cannot be reached')
  const closing = new AbortController()
  const underWay = new Set<Promise<Outcome>>()
  warnOfPlainLogin(config, options, io)
  report({ state: 'connecting', detail: 'connects with the first mail' })

  async function submit(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    // Mails without files are small, and wait behind none.
    if (message.files.length === 0) return deliver(message, null, signal)
    const place = await room.enter(expectedBytes(message.files) * copies, signal)
    if (!place) return STOPPED
    try {
      return await deliver(message, place, signal)
    } finally {
      place.leave()
    }
  }

  async function deliver(message: Outgoing, place: Place | null, signal: AbortSignal): Promise<Outcome> {
    const sender = message.from === null ? from : parseMailbox(message.from)
    const made = await makeMail(message, sender, sign, io, signal)
    if (!('mail' in made)) return made
    place?.shrink(made.mail.bytes.length)
    const refused = await refuseBeyondAscii(message, made.mail, signal)
    if (refused) return refused
    const delivery = await deliveries.deliver(made.mail, signal)
    const state = stateAfter(delivery)
    if (state) report(state)
    if ('fault' in delivery) return outcomeOfFault(message, delivery.fault, delivery.ended)
    beyondAscii.heard(delivery.extensions)
    const providerId = (delivery.serverMessageId ?? made.mail.messageId).replace(/[<>]/g, '')
    return outcomeOfReply(message, delivery.reply, providerId, delivery.ended)
  }

  /** Null where the server takes the addresses of the mail. */
  async function refuseBeyondAscii(
    message: Outgoing,
    mail: Mail,
    signal: AbortSignal,
  ): Promise<Outcome | null> {
    if (!isBeyondAscii(mail.to) && !isBeyondAscii(mail.from)) return null
    const taken = await beyondAscii.isTaken(signal)
    if (typeof taken === 'boolean') return taken ? null : outcomeBeyondAscii(isBeyondAscii(mail.to))
    const state = stateAfter({ fault: taken.fault })
    if (state) report(state)
    return outcomeOfFault(message, taken.fault, false)
  }

  return {
    // One mail at a time to a connection, so that a lost one leaves one mail in doubt.
    concurrency: options.maxConnections,
    ...(config.messagesPerSecond !== undefined && { messagesPerSecond: config.messagesPerSecond }),
    send(message, signal) {
      const outcome = submit(message, AbortSignal.any([signal, closing.signal]))
      underWay.add(outcome)
      return outcome.finally(() => underWay.delete(outcome))
    },
    test: signal => checkServer(options, login, AbortSignal.any([signal, closing.signal])),
    async close() {
      closing.abort()
      deliveries.close()
      await Promise.allSettled(underWay)
    },
  }
}

function poolOptions(config: SmtpConfig): PoolOptions & { maxConnections: number } {
  const secure = config.secure ?? (config.port === undefined || config.port === 465)
  return {
    host: config.host,
    port: config.port ?? (secure ? 465 : 587),
    secure,
    ...(config.ehloName !== undefined && { name: config.ehloName }),
    requireTLS: config.requireTls ?? false,
    tls: {
      ...(config.tlsCa !== undefined && { ca: config.tlsCa }),
      ...(isIP(config.host) === 0 && { servername: config.host }),
    },
    maxConnections: config.maxConnections ?? CONNECTIONS,
    maxRequeues: STALE_CONNECTIONS,
    dnsTimeout: DNS_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SILENCE_MS,
    // A connection that is given up is cut: waiting for the far side's goodbye would outlive close().
    socketCloseTimeout: 0,
    logger: false,
  }
}

function warnOfPlainLogin(config: SmtpConfig, options: PoolOptions, io: Io): void {
  if (config.password === undefined || options.secure || options.requireTLS) return
  io.log.warn(
    { host: config.host },
    'smtp: the password goes out in the clear where the server offers no TLS',
  )
}

async function makeMail(
  message: Outgoing,
  from: Mailbox | null,
  sign: DkimSigner | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<{ mail: Mail } | Outcome> {
  try {
    signal.throwIfAborted()
    const mail = await composeMail(message, from, io.clock.now(), signal)
    if ('fault' in mail) return outcomeOfUnmailable(mail)
    const bytes = sign ? await sign(mail.bytes) : mail.bytes
    signal.throwIfAborted()
    return { mail: { ...mail, bytes } }
  } catch {
    if (signal.aborted) return STOPPED
    return { kind: 'retry', detail: 'Making the mail failed before anything was sent.' }
  }
}

const STOPPED: Outcome = { kind: 'retry', detail: 'Making the mail was stopped before anything was sent.' }

/** As they stand in a mail: base64, in lines. One of which nobody knows the size may be as large as a mail can be. */
function expectedBytes(files: readonly OutgoingFile[]): number {
  const sizes = files.map(({ sizeBytes }) => (sizeBytes === undefined ? LARGEST_MAIL_BYTES : sizeBytes * 1.4))
  return Math.min(
    LARGEST_MAIL_BYTES,
    sizes.reduce((sum, size) => sum + size, 0),
  )
}

/** A server that answers is up, whatever it says of the mail; our own abort tells nothing. */
function stateAfter(delivery: Delivery | { fault: SmtpFault }): LinkState | null {
  if (!('fault' in delivery)) return { state: 'up', detail: 'takes mail' }
  const { code, responseCode, originalCode } = delivery.fault
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return { state: 'up', detail: 'answers' }
  if (code === 'EABORT' || code === undefined) return null
  const reply = responseCode ? `, reply ${responseCode}` : ''
  return { state: 'down', detail: `${originalCode ?? code}${reply}` }
}
