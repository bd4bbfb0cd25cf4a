import { Agent } from 'node:https'
import type {
  BinaryNode,
  Chat,
  Contact,
  GroupMetadata,
  proto,
  UserFacingSocketConfig,
  WAMessage,
  WASocket,
} from 'baileys'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { AuthState } from './auth-state.ts'
import type { WebConfig } from './config.ts'
import { guardListeners } from './guard-listeners.ts'
import type { Baileys } from './library.ts'
import { createQuietLog } from './quiet-log.ts'

/** One connection to the chat app, from its first byte to its end. */
export type Line = {
  sock: WASocket
  /** How often something was sealed for a recipient: what was not sealed has not left. */
  sealed(): number
  isOver(): boolean
  /** Whether what is said now would still leave: not once it has begun to close. */
  isUp(): boolean
  /** Runs it when the connection is over, with the library's code for why; at once where it is. What it returns takes that back. */
  atEnd(run: (end: LineEnd) => void): () => void
  /** The first node that names this id; null when the connection ends before. */
  answerTo(id: string): Promise<BinaryNode | null>
  end(): void
}

export type LineEnd = { code: number | undefined; detail: string }

export type LineEvents = {
  showsQr(text: string): void
  /** The far side refuses what was asked of it. */
  refusedQuery(): void
  opened(): void
  /** The far side let us in although we never were linked to an account, as servers for tests do. */
  letInUnlinked(success: BinaryNode): void
  receipt(node: BinaryNode): void
  messages(messages: readonly WAMessage[]): void
  chats(chats: readonly Partial<Chat>[]): void
  contacts(contacts: readonly Partial<Contact>[]): void
  groups(groups: readonly Pick<GroupMetadata, 'id' | 'subject'>[]): void
  /** The keys could not be kept: the session is another node's. */
  lost(error: unknown): void
}

export type LineDeps = {
  baileys: Baileys
  clock: Pick<Clock, 'after'>
  config: WebConfig
  auth: AuthState
  log: Log
  /** What was sent by this id, for the chat that asks for it again. */
  sentMessage(id: string, chat: string): Promise<proto.IMessage | undefined>
  on: LineEvents
}

const CONNECT_TIMEOUT_MS = 10_000
const QUERY_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 25_000
/** For a goodbye: a far side that is gone says none, and the library would wait half a minute for it. */
const GOODBYE_MS = 1_000

export function openLine({ baileys, clock, config, auth, log, sentMessage, on }: LineDeps): Line {
  let sealedSoFar = 0
  const agent = config.tlsCa === undefined ? undefined : new Agent({ ca: config.tlsCa })
  const options: UserFacingSocketConfig = {
    auth: { creds: auth.creds, keys: auth.keys },
    waWebSocketUrl: config.socketUrl,
    browser: [config.deviceName, 'Chrome', '22.0'],
    logger: createQuietLog(log),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    defaultQueryTimeoutMs: QUERY_TIMEOUT_MS,
    keepAliveIntervalMs: KEEP_ALIVE_MS,
    // The person's phone goes on ringing, and their history stays where it is.
    markOnlineOnConnect: false,
    syncFullHistory: false,
    emitOwnEvents: false,
    // Our store waits for its database itself.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    getMessage: ({ id, remoteJid }) =>
      id && remoteJid ? sentMessage(id, remoteJid) : Promise.resolve(undefined),
    makeSignalRepository: (...given) => {
      const repository = baileys.DEFAULT_CONNECTION_CONFIG.makeSignalRepository(...given)
      return {
        ...repository,
        async encryptMessage(message) {
          const sealed = await repository.encryptMessage(message)
          sealedSoFar++
          return sealed
        },
        async encryptGroupMessage(message) {
          const sealed = await repository.encryptGroupMessage(message)
          sealedSoFar++
          return sealed
        },
      }
    },
    ...(agent && { agent, fetchAgent: agent }),
  }
  const sock = baileys.makeWASocket(options)
  guardListeners(sock.ws, error => {
    log.debug({ err: error }, 'a web session could not read what it was told')
    void sock.end(error instanceof Error ? error : undefined)
  })
  hangUpInTime(sock.ws, clock)
  /** No promise: that would keep whoever waited on it for as long as the line lives. */
  const waiting = new Set<(end: LineEnd) => void>()
  let over: LineEnd | null = null
  listen(sock, auth, on, (code, detail) => {
    over = { code, detail }
    for (const run of waiting) run(over)
  })

  function atEnd(run: (end: LineEnd) => void): () => void {
    if (over) void Promise.resolve(over).then(run)
    else waiting.add(run)
    return () => void waiting.delete(run)
  }

  return {
    sock,
    isOver: () => over !== null,
    isUp: () => over === null && sock.ws.isOpen,
    atEnd,
    sealed: () => sealedSoFar,
    answerTo(id) {
      return new Promise(resolve => {
        const event = `TAG:${id}`
        const done = (node: BinaryNode | null) => {
          sock.ws.off(event, done)
          forget()
          resolve(node)
        }
        sock.ws.on(event, done)
        const forget = atEnd(() => done(null))
      })
    },
    end() {
      void sock.end(undefined)
    },
  }
}

/** Cuts what does not close by itself: while it closes nothing leaves, and nobody connects anew. */
function hangUpInTime(socket: WASocket['ws'], clock: Pick<Clock, 'after'>): void {
  const close = socket.close.bind(socket)
  socket.close = async () => {
    const { socket: wire } = socket as unknown as { socket: { terminate(): void } | null }
    const cancel = clock.after(GOODBYE_MS, () => wire?.terminate())
    await close()
    cancel()
  }
}

function listen(
  sock: WASocket,
  auth: AuthState,
  on: LineEvents,
  over: (code: number | undefined, detail: string) => void,
): void {
  const save = () => void auth.saveCreds().catch(on.lost)
  // Straight from the wire: the library holds its own events back until it has caught up with what it missed.
  sock.ws.on('CB:receipt', on.receipt)
  sock.ws.on('CB:success', (node: BinaryNode) => {
    if (!auth.creds.me?.id) on.letInUnlinked(node)
  })
  sock.ws.on('CB:iq,type:error', on.refusedQuery)
  sock.ev.on('creds.update', save)
  sock.ev.on('connection.update', ({ connection, lastDisconnect, qr }) => {
    if (qr !== undefined) on.showsQr(qr)
    if (connection === 'open') on.opened()
    if (connection === 'close') {
      // What it holds back is acknowledged already: it would be lost with the line.
      sock.ev.flush()
      const error = lastDisconnect?.error as (Error & { output?: { statusCode?: number } }) | undefined
      over(error?.output?.statusCode, error?.message ?? 'closed')
    }
  })
  sock.ev.on('messages.upsert', ({ messages }) => on.messages(messages))
  sock.ev.on('messaging-history.set', ({ chats, contacts }) => {
    on.chats(chats)
    on.contacts(contacts)
  })
  sock.ev.on('chats.upsert', on.chats)
  sock.ev.on('contacts.upsert', on.contacts)
  sock.ev.on('groups.upsert', on.groups)
}
