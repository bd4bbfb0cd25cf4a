import type { Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { listen } from './loopback.ts'
import { createSignals } from './signals.ts'

/** What the server does at a step instead of its usual reply. */
export type Step =
  /** Replies with this: `550 5.1.1 no such user`. */
  | { reply: string }
  /** Writes these bytes, and closes the connection if `cut` is set. */
  | { raw: string; cut?: boolean }
  /** Never replies. */
  | 'silent'
  | 'reset'

/** `data` is the first bytes of a mail, `end` the final dot. A function is given the count from 1. */
export type SmtpScript = Partial<
  Record<'connect' | 'auth' | 'mail' | 'rcpt' | 'data' | 'end', Step | ((nth: number) => Step | null)>
>

export type ReceivedMail = {
  from: string
  to: string[]
  bytes: Buffer
  secure: boolean
  user: string | undefined
  mailArgs: Record<string, unknown>
}

export type SmtpPeer = {
  port: number
  received: ReceivedMail[]
  /** MAIL and RCPT as received; smtp-server itself decodes the domains. */
  envelopes: string[]
  connections(): number
  connected(count: number): Promise<void>
  /** Resolves when so many mails were received to their final dot, whatever the reply. */
  submitted(count: number): Promise<void>
  /** How many mails were received to their final dot so far. */
  submits(): number
  idle(): Promise<void>
  /** Ends all connections, without a reply. */
  hangUp(): void
  close(): Promise<void>
}

/** A real mail server (smtp-server) that misbehaves on demand; reachable on 127.0.0.1. */
export async function startSmtpServer(
  script: SmtpScript = {},
  options: SMTPServerOptions = {},
): Promise<SmtpPeer> {
  const sockets = new Set<Socket>()
  const { notify, until } = createSignals()
  const received: ReceivedMail[] = []
  const envelopes: string[] = []
  const counts = { connections: 0, submits: 0 }
  const visits = new Map<string, number>()

  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: options.secure || options.key ? [] : ['STARTTLS'],
    logger: false,
    closeTimeout: 1,
    onConnect: (session, done) => play('connect', session, done),
    onAuth: (auth, session, done) =>
      play('auth', session, error =>
        error ? done(error) : done(null, { user: `${auth.username}:${auth.password}` }),
      ),
    onMailFrom: (_address, session, done) => play('mail', session, done),
    onRcptTo: (_address, session, done) => play('rcpt', session, done),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', chunk => {
        chunks.push(chunk)
        if (chunks.length === 1) play('data', session, error => void (error && done(error)))
      })
      stream.on('end', () => {
        received.push(mailOf(session, Buffer.concat(chunks)))
        counts.submits++
        notify()
        play('end', session, error => done(error ?? null))
      })
    },
    ...options,
  })
  server.on('error', () => {})
  /** STARTTLS removes all listeners of the plain socket, ours included. */
  server.onSecure = (secured, session, done) => {
    const plain = socketOf(session)
    secured.once('close', () => gone(plain))
    done()
  }
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    counts.connections++
    socket.on('data', chunk => envelopes.push(...(chunk.toString().match(/^(?:MAIL|RCPT) .*$/gm) ?? [])))
    socket.on('error', () => {}).once('close', () => gone(socket))
    notify()
  })

  function play(point: keyof SmtpScript, session: SMTPServerSession, done: (error?: Error) => void): void {
    const nth = (visits.get(point) ?? 0) + 1
    visits.set(point, nth)
    const planned = script[point]
    const step = typeof planned === 'function' ? planned(nth) : planned
    if (step === undefined || step === null) done()
    else if (step === 'reset') socketOf(session).resetAndDestroy()
    else if (step !== 'silent' && 'reply' in step) done(refusal(step.reply))
    else if (step !== 'silent') write(socketOf(session), step)
  }

  function write(socket: Socket, step: { raw: string; cut?: boolean }): void {
    if (step.cut) socket.end(step.raw, 'latin1')
    else socket.write(step.raw, 'latin1')
  }

  /** smtp-server does not expose the socket; the port identifies it. */
  function socketOf(session: SMTPServerSession): Socket {
    return [...sockets].find(socket => socket.remotePort === session.remotePort)!
  }

  function gone(socket: Socket): void {
    sockets.delete(socket)
    notify()
  }

  const port = await listen(server.server)
  return {
    port,
    received,
    envelopes,
    connections: () => counts.connections,
    connected: count => until(() => counts.connections >= count),
    submitted: count => until(() => counts.submits >= count),
    submits: () => counts.submits,
    idle: () => until(() => sockets.size === 0),
    hangUp() {
      for (const socket of sockets) socket.end()
    },
    close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      return closed
    },
  }
}

function refusal(reply: string): Error {
  return Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })
}

function mailOf(session: SMTPServerSession, bytes: Buffer): ReceivedMail {
  const { mailFrom, rcptTo } = session.envelope
  return {
    from: mailFrom === false ? '' : mailFrom.address,
    to: rcptTo.map(one => one.address),
    bytes,
    secure: session.secure,
    user: session.user as unknown as string | undefined,
    mailArgs: mailFrom === false ? {} : ((mailFrom.args || {}) as Record<string, unknown>),
  }
}
