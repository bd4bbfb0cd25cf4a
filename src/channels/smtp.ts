import { isIP } from 'node:net'
import type { Options as PoolOptions } from 'nodemailer/lib/smtp-pool'
import { type Static, Type } from 'typebox'
import { MESSAGE_TYPES } from '../contract/enums.ts'
import type { Io, Link, LinkState, Outcome, Outgoing, Provider } from './provider.ts'
import { type Mailbox, parseMailbox } from './smtp/address.ts'
import { checkServer } from './smtp/check.ts'
import { createDeliveries, type Delivery } from './smtp/delivery.ts'
import { createDkimSigner, type DkimSigner } from './smtp/dkim.ts'
import { explainReply } from './smtp/explain.ts'
import { composeMail } from './smtp/message.ts'
import { outcomeOfFault, outcomeOfReply, outcomeOfUnmailable } from './smtp/outcome.ts'

const CONNECTIONS = 5

/** Connecting has its own deadlines: a host that swallows packets must not hold a mail for minutes. */
const DNS_MS = 5_000
const CONNECT_MS = 10_000
const GREETING_MS = 10_000

/**
 * Silence on an open connection, also after the mail's end, where a filter may think for long
 * (RFC 5321, 4.5.3.2.6 asks for ten minutes). The caller's signal mostly comes first.
 */
const SILENCE_MS = 300_000

/** Times a mail is moved off a connection that had died before a byte of it left. */
const STALE_CONNECTIONS = 2

const Text = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })

const Config = Type.Object(
  {
    host: Text('The mail server, by name or address.'),
    port: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 65_535, description: '465 with TLS from the start, else 587.' }),
    ),
    secure: Type.Optional(
      Type.Boolean({
        description: 'TLS from the start; unset means: on port 465, or where no port is given.',
      }),
    ),
    user: Type.Optional(Text('Login name.')),
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4_096, description: 'Login password.', format: 'password' }),
    ),
    from: Type.String({
      minLength: 3,
      maxLength: 400,
      pattern: '^[^\\r\\n]+@[^\\r\\n]+$',
      description: 'The sender of every mail: an address, or `Name <address>`.',
    }),
    dkim: Type.Optional(
      Type.Object(
        {
          domainName: Type.String({ maxLength: 255, pattern: '^[A-Za-z0-9._-]+$' }),
          keySelector: Type.String({ maxLength: 255, pattern: '^[A-Za-z0-9._-]+$' }),
          privateKey: Type.String({ minLength: 1, maxLength: 16_384, description: 'RSA, PEM.' }),
        },
        { additionalProperties: false, description: 'Signs every mail for this domain.' },
      ),
    ),
    requireTls: Type.Optional(
      Type.Boolean({
        description: 'Refuse a server that offers no STARTTLS; without it, TLS is used where offered.',
      }),
    ),
    tlsCa: Type.Optional(
      Type.String({ minLength: 1, maxLength: 65_536, description: 'PEM of the authority to trust instead.' }),
    ),
    maxConnections: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: CONNECTIONS })),
    messagesPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  },
  { additionalProperties: false },
)

export type SmtpConfig = Static<typeof Config>

/**
 * E-mail by way of any mail server, over a pool of connections. `providerId` is the mail's
 * Message-ID without its brackets: ours, or the one that a service is known to put in its
 * place. Source of the rules for what counts as taken: RFC 5321, 4.2 and 6.1.
 */
export const smtpProvider: Provider<SmtpConfig> = {
  key: 'smtp',
  channels: ['email_user'],
  policy: {
    allowedTypes: MESSAGE_TYPES,
    sendModeByType: {
      otp: 'plain_text',
      utility: 'plain_text',
      marketing: 'plain_text',
      free_text: 'plain_text',
    },
    requiresApprovedTemplate: false,
    supportsUserSender: false,
    supportsSystemSenderFallback: true,
    retryPolicy: { maxAttempts: 4, backoffMs: 5_000 },
  },
  config: Config,
  secrets: ['password', 'dkim'],
  dedupes: false,
  explain: explainReply,
  open: async (config, io) => openLink(config, io),
}

function openLink(config: SmtpConfig, io: Io): Link {
  const from = parseMailbox(config.from)
  if (from === null) throw new Error('from is not a mail address')
  const sign = config.dkim && createDkimSigner(config.dkim)
  const options = poolOptions(config)
  const login = config.user && config.password ? { user: config.user, pass: config.password } : null
  const deliveries = createDeliveries({ ...options, ...(login && { auth: login }) })
  const report = createReport(io)
  const closing = new AbortController()
  const underWay = new Set<Promise<Outcome>>()
  warnOfPlainLogin(config, options, io)
  report({ state: 'connecting', detail: 'connects with the first mail' })

  async function submit(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const sender = message.from === null ? from : parseMailbox(message.from)
    const made = await makeMail(message, sender, sign, io, signal)
    if (!('mail' in made)) return made
    const delivery = await deliveries.deliver(made.mail, signal)
    report(stateAfter(delivery))
    if ('fault' in delivery) return outcomeOfFault(message, delivery.fault, delivery.ended)
    const providerId = (delivery.serverMessageId ?? made.mail.messageId).replace(/[<>]/g, '')
    return outcomeOfReply(message, delivery.reply, providerId, delivery.ended)
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
): Promise<{ mail: Exclude<Awaited<ReturnType<typeof composeMail>>, { fault: unknown }> } | Outcome> {
  try {
    signal.throwIfAborted()
    const mail = await composeMail(message, from, io.clock.now(), signal)
    if ('fault' in mail) return outcomeOfUnmailable(mail)
    const bytes = sign ? await sign(mail.bytes) : mail.bytes
    signal.throwIfAborted()
    return { mail: { ...mail, bytes } }
  } catch {
    const why = signal.aborted ? 'was stopped' : 'failed'
    return { kind: 'retry', detail: `Making the mail ${why} before anything was sent.` }
  }
}

/** Passes on what changed, and only that: a link is not news with every mail. */
function createReport(io: Io): (state: LinkState | null) => void {
  let last = ''
  return state => {
    if (state === null || state.state === last) return
    last = state.state
    if (state.state === 'down') io.log.warn({ detail: state.detail }, 'smtp: the server cannot be reached')
    io.report(state)
  }
}

/** A server that answers is up, whatever it says of the mail; our own abort tells nothing. */
function stateAfter(delivery: Delivery): LinkState | null {
  if (!('fault' in delivery)) return { state: 'up', detail: 'takes mail' }
  const { code, responseCode, originalCode } = delivery.fault
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return { state: 'up', detail: 'answers' }
  if (code === 'EABORT' || code === undefined) return null
  const reply = responseCode ? `, reply ${responseCode}` : ''
  return { state: 'down', detail: `${originalCode ?? code}${reply}` }
}
