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
  /** How often a message was encrypted for a recipient: a message that was not encrypted was not sent. */
  encryptions(): number
  /** Whether something written now would still be sent; false once the line closes. */
  isOpen(): boolean
  /** Calls `run` when the connection has ended, with the library's code; at once if it has. Returns a function that cancels it. */
  onEnd(run: (end: LineEnd) => void): () => void
  /** The first node with this id; null when the connection ends before one arrives. */
  responseTo(id: string): Promise<BinaryNode | null>
  end(): void
}

export type LineEnd = { code: number | undefined; detail: string }

export type LineEvents = {
  qrShown(text: string): void
  /** The server refused a query. */
  queryRefused(): void
  opened(): void
  /** The server let us in although we are not linked to an account, as servers for tests do. */
  acceptedUnlinked(success: BinaryNode): void
  receipt(node: BinaryNode): void
  messages(messages: readonly WAMessage[]): void
  chats(chats: readonly Partial<Chat>[]): void
  contacts(contacts: readonly Partial<Contact>[]): void
  groups(groups: readonly Pick<GroupMetadata, 'id' | 'subject'>[]): void
  /** The keys could not be stored: another node holds the session. */
  keysNotStored(error: unknown): void
}

export type LineDeps = {
  baileys: Baileys
  clock: Pick<Clock, 'after'>
  config: WebConfig
  auth: AuthState
  log: Log
  /** A message that was sent, for a recipient in `chat` who asks for it again. */
  sentMessage(id: string, chat: string): Promise<proto.IMessage | undefined>
  on: LineEvents
}

const CONNECT_TIMEOUT_MS = 10_000
const QUERY_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 25_000
/** How long to wait for the server's close: the library would wait half a minute for a server that is gone. */
const CLOSE_WAIT_MS = 1_000

export function openLine({ baileys, clock, config, auth, log, sentMessage, on }: LineDeps): Line {
  let encryptionCount = 0
  const agent = config.tlsCa === undefined ? undefined : new Agent({ ca: config.tlsCa })
  const options: UserFacingSocketConfig = {
    auth: { creds: auth.creds, keys: auth.keys },
    waWebSocketUrl: config.socketUrl,
    browser: [config.deviceName, 'Chrome', '22.0'],
    logger: createQuietLog(log),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    defaultQueryTimeoutMs: QUERY_TIMEOUT_MS,
    keepAliveIntervalMs: KEEP_ALIVE_MS,
    // So that the person's phone still notifies, and no full history is sent to us.
    markOnlineOnConnect: false,
    syncFullHistory: false,
    emitOwnEvents: false,
    // Our store retries by itself.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    getMessage: ({ id, remoteJid }) =>
      id && remoteJid ? sentMessage(id, remoteJid) : Promise.resolve(undefined),
    makeSignalRepository: (...given) => {
      const repository = baileys.DEFAULT_CONNECTION_CONFIG.makeSignalRepository(...given)
      return {
        ...repository,
        async encryptMessage(message) {
          const sealed = await repository.encryptMessage(message)
          encryptionCount++
          return sealed
        },
        async encryptGroupMessage(message) {
          const sealed = await repository.encryptGroupMessage(message)
          encryptionCount++
          return sealed
        },
      }
    },
    ...(agent && { agent, fetchAgent: agent }),
  }
  const sock = baileys.makeWASocket(options)
  guardListeners(sock.ws, error => {
    log.debug({ err: error }, 'a web session received data that it could not read')
    void sock.end(error instanceof Error ? error : undefined)
  })
  terminateLateClose(sock.ws, clock)
  /** Callbacks and not a promise: a promise would keep its waiters in memory for as long as the line lives. */
  const endListeners = new Set<(end: LineEnd) => void>()
  let over: LineEnd | null = null
  subscribe(sock, auth, on, (code, detail) => {
    over = { code, detail }
    for (const run of endListeners) run(over)
  })

  function onEnd(run: (end: LineEnd) => void): () => void {
    if (over) void Promise.resolve(over).then(run)
    else endListeners.add(run)
    return () => void endListeners.delete(run)
  }

  return {
    sock,
    isOpen: () => over === null && sock.ws.isOpen,
    onEnd,
    encryptions: () => encryptionCount,
    responseTo(id) {
      return new Promise(resolve => {
        const event = `TAG:${id}`
        const done = (node: BinaryNode | null) => {
          sock.ws.off(event, done)
          forget()
          resolve(node)
        }
        sock.ws.on(event, done)
        const forget = onEnd(() => done(null))
      })
    },
    end() {
      void sock.end(undefined)
    },
  }
}

/** Cuts a socket that does not close in time: until it is closed, nothing is sent and no reconnect begins. */
function terminateLateClose(socket: WASocket['ws'], clock: Pick<Clock, 'after'>): void {
  const close = socket.close.bind(socket)
  socket.close = async () => {
    const { socket: wire } = socket as unknown as { socket: { terminate(): void } | null }
    const cancel = clock.after(CLOSE_WAIT_MS, () => wire?.terminate())
    await close()
    cancel()
  }
}

function subscribe(
  sock: WASocket,
  auth: AuthState,
  on: LineEvents,
  over: (code: number | undefined, detail: string) => void,
): void {
  const save = () => void auth.saveCreds().catch(on.keysNotStored)
  // Straight from the socket: the library delays its own events until it has received all that it missed.
  sock.ws.on('CB:receipt', on.receipt)
  sock.ws.on('CB:success', (node: BinaryNode) => {
    if (!auth.creds.me?.id) on.acceptedUnlinked(node)
  })
  sock.ws.on('CB:iq,type:error', on.queryRefused)
  sock.ev.on('creds.update', save)
  sock.ev.on('connection.update', ({ connection, lastDisconnect, qr }) => {
    if (qr !== undefined) on.qrShown(qr)
    if (connection === 'open') on.opened()
    if (connection === 'close') {
      // The delayed events are acknowledged at the server already, and would be lost with the line.
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
