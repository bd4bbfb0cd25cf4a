import { isIP } from 'node:net'
import type { Options as PoolOptions } from 'nodemailer/lib/smtp-pool'
import type { Io, Link, Outcome, Outgoing, OutgoingFile } from '../provider.ts'
import { createSemaphore, type Permit } from '../shared/semaphore.ts'
import { createStateReporter } from '../shared/state-reporter.ts'
import { type Mailbox, parseMailbox } from './address.ts'
import { checkServer, queryExtensions } from './check.ts'
import { CONNECTIONS, type SmtpConfig } from './config.ts'
import { createDkimSigner, type DkimSigner } from './dkim.ts'
import { createMailPool } from './mail-pool.ts'
import { composeMail, LARGEST_MAIL_BYTES, type Mail } from './message.ts'
import {
  outcomeOfFault,
  outcomeOfMailError,
  outcomeOfNonAscii,
  outcomeOfReply,
  type SmtpFault,
  stateAfterFault,
} from './outcome.ts'
import { createSmtpUtf8Check, isNonAscii } from './smtputf8.ts'

/** Connecting has short deadlines of its own: a host that drops packets must not hold a mail for minutes. */
const DNS_MS = 5_000
const CONNECT_MS = 10_000
const GREETING_MS = 10_000

/**
 * How long an open connection may be silent, also after the end of a mail, where a filter may take long
 * (RFC 5321, 4.5.3.2.6 asks for ten minutes). Mostly the caller's signal ends the wait before.
 */
const SOCKET_TIMEOUT_MS = 300_000

/**
 * Memory for all mails with files of one link. A mail that is being encoded takes its chunks, the
 * whole and, where it is signed, a copy; a mail that is being sent takes the whole only.
 */
const MAX_IN_MEMORY_BYTES = 6 * LARGEST_MAIL_BYTES
const COPIES_WHILE_ENCODING = 2

/** How often a mail moves to another connection because the one it got was dead before a byte was sent. */
const MAX_REQUEUES = 2

/** Opens the pool; throws if the sender address or the DKIM key is not valid. */
export function openLink(config: SmtpConfig, io: Io): Link {
  const from = parseMailbox(config.from)
  if (from === null) throw new Error('from is not a mail address')
  const sign = config.dkim && createDkimSigner(config.dkim)
  const options = poolOptions(config)
  const login = config.user && config.password ? { user: config.user, pass: config.password } : null
  const memory = createSemaphore(MAX_IN_MEMORY_BYTES)
  const copies = COPIES_WHILE_ENCODING + Number(sign !== undefined)
  const pool = createMailPool({ ...options, ...(login && { auth: login }) })
  const smtpUtf8 = createSmtpUtf8Check(signal => queryExtensions(options, signal), io.clock)
  const report = createStateReporter(io, 'smtp: the server cannot be reached')
  const closing = new AbortController()
  const inProgress = new Set<Promise<Outcome>>()
  warnOfPlainLogin(config, options, io)
  report({ state: 'connecting', detail: 'connects with the first mail' })

  async function submit(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    // Mails without files are small, and do not wait for memory.
    if (message.files.length === 0) return deliver(message, null, signal)
    const permit = await memory.acquire(expectedBytes(message.files) * copies, signal)
    if (!permit) return CANCELLED
    try {
      return await deliver(message, permit, signal)
    } finally {
      permit.release()
    }
  }

  async function deliver(message: Outgoing, permit: Permit | null, signal: AbortSignal): Promise<Outcome> {
    const sender = message.from === null ? from : parseMailbox(message.from)
    const encoded = await encodeMail(message, sender, sign, io, signal)
    if (!('mail' in encoded)) return encoded
    permit?.shrink(encoded.mail.bytes.length)
    const refused = await rejectNonAscii(message, encoded.mail, signal)
    if (refused) return refused
    const result = await pool.send(encoded.mail, signal)
    if ('fault' in result) return readFault(message, result.fault, result.ended)
    report({ state: 'up', detail: 'accepts mail' })
    smtpUtf8.recordExtensions(result.extensions)
    const providerId = (result.serverMessageId ?? encoded.mail.messageId).replace(/[<>]/g, '')
    return outcomeOfReply(message, result.reply, providerId, result.ended)
  }

  /** A refusal where a mail has a non-ASCII address and the server does not take one; else null. */
  async function rejectNonAscii(message: Outgoing, mail: Mail, signal: AbortSignal): Promise<Outcome | null> {
    if (!isNonAscii(mail.to) && !isNonAscii(mail.from)) return null
    const taken = await smtpUtf8.isSupported(signal)
    if (typeof taken === 'boolean') return taken ? null : outcomeOfNonAscii(isNonAscii(mail.to))
    return readFault(message, taken.fault, false)
  }

  function readFault(message: Outgoing, fault: SmtpFault, ended: boolean): Outcome {
    const state = stateAfterFault(fault, ended)
    if (state) report(state)
    return outcomeOfFault(message, fault, ended)
  }

  return {
    // One mail at a time per connection, so that a lost connection leaves one mail in doubt.
    concurrency: options.maxConnections,
    ...(config.messagesPerSecond !== undefined && { messagesPerSecond: config.messagesPerSecond }),
    send(message, signal) {
      const outcome = submit(message, AbortSignal.any([signal, closing.signal]))
      inProgress.add(outcome)
      return outcome.finally(() => inProgress.delete(outcome))
    },
    test: signal => checkServer(options, login, AbortSignal.any([signal, closing.signal])),
    async close() {
      closing.abort()
      pool.close()
      await Promise.allSettled(inProgress)
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
    maxRequeues: MAX_REQUEUES,
    dnsTimeout: DNS_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    // Cut at once: waiting for the server to close its side would outlive close().
    socketCloseTimeout: 0,
    logger: false,
  }
}

function warnOfPlainLogin(config: SmtpConfig, options: PoolOptions, io: Io): void {
  if (config.password === undefined || options.secure || options.requireTLS) return
  io.log.warn({ host: config.host }, 'smtp: the password is sent unencrypted if the server offers no TLS')
}

async function encodeMail(
  message: Outgoing,
  from: Mailbox | null,
  sign: DkimSigner | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<{ mail: Mail } | Outcome> {
  try {
    signal.throwIfAborted()
    const mail = await composeMail(message, from, io.clock.now(), signal)
    if ('fault' in mail) return outcomeOfMailError(mail)
    const bytes = sign ? await sign(mail.bytes) : mail.bytes
    signal.throwIfAborted()
    return { mail: { ...mail, bytes } }
  } catch {
    if (signal.aborted) return CANCELLED
    return { kind: 'retry', detail: 'The mail could not be encoded; nothing was sent.' }
  }
}

const CANCELLED: Outcome = { kind: 'retry', detail: 'The send was cancelled before anything was sent.' }

/** Bytes of the files in a mail, as base64 in lines. A file of unknown size may be as large as a whole mail. */
function expectedBytes(files: readonly OutgoingFile[]): number {
  const sizes = files.map(({ sizeBytes }) => (sizeBytes === undefined ? LARGEST_MAIL_BYTES : sizeBytes * 1.4))
  return Math.min(
    LARGEST_MAIL_BYTES,
    sizes.reduce((sum, size) => sum + size, 0),
  )
}
