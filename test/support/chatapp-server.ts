import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { BinaryNode } from 'baileys'
import * as baileys from 'baileys'
import type { Certificate } from './certificate.ts'
import { createSignals } from './signals.ts'
import { type ServerSocket, startWebSocketServer } from './websocket-server.ts'

/**
 * A scripted server for web sessions, for what crabline does not have: QR codes and linking, log-out,
 * receipts, groups, registered numbers, media, and connections that drop at any stage. It uses the library's
 * own cryptography, and does not read messages.
 */
export type ChatappServer = {
  url: string
  /** Nodes that were received, on all connections. */
  received: BinaryNode[]
  /** Resolves when a node that was received since the last call matches. */
  next(fits: (node: BinaryNode) => boolean): Promise<BinaryNode>
  /** Resolves when `count` connections so far have logged in or received a QR code. */
  opened(count: number): Promise<void>
  /** Resolves when `count` connections were made so far. */
  connected(count: number): Promise<void>
  /** Connections that were made so far. */
  connections(): number
  /** Resolves when exactly `count` connections are open. */
  lines(count: number): Promise<void>
  /** The uploaded media. */
  uploads: { path: string; bytes: Buffer }[]
  /** Resolves when `count` uploads were received completely so far. */
  uploaded(count: number): Promise<void>
  /** Sends on the newest connection. */
  send(node: BinaryNode): void
  /** Closes all connections abruptly. */
  cut(): void
  /** Sends invalid bytes on the newest connection. */
  garbage(): void
  /** Changes its behaviour from now on. */
  set(script: Partial<Script>): void
  close(): Promise<void>
}

export type Script = {
  /**
   * When it closes a connection: at once, at the client's first message, at its second one (the login), or
   * never.
   */
  cutAt: 'connect' | 'hello' | 'login' | null
  /** `qr`: sends what a QR code is made of. `failure`: refuses with this reason. `silent`: sends nothing. */
  login: 'success' | 'qr' | 'silent' | { failure: number }
  /** The response to a message. */
  message: 'ack' | 'silent' | 'cut' | 'garbage' | { error: string }
  /** Whether a number is on the chat app. */
  registered(phone: string): boolean
  /** Closes the connection on a query for registered numbers, as crabline's server does. */
  hangsUpOverWhoIsThere: boolean
  /** The response to a query for the keys of devices. */
  keys: 'give' | 'refuse'
  groups: { id: string; subject: string; participants: string[] }[]
  /** The hosts for uploads; this server at the start, until `set`. Null: it returns none. */
  mediaHosts: readonly string[] | null
  /** The response to an upload. */
  media: 'take' | 'refuse' | 'cut' | 'silent'
}

const SELF = '15550000000'

export async function startChatappServer(
  script: Partial<Script> = {},
  tls?: Certificate,
): Promise<ChatappServer> {
  const rules: Script = {
    cutAt: null,
    login: 'success',
    message: 'ack',
    registered: () => true,
    hangsUpOverWhoIsThere: false,
    keys: 'give',
    groups: [],
    mediaHosts: null,
    media: 'take',
    ...script,
  }
  const signals = createSignals()
  const received: BinaryNode[] = []
  const live = new Set<Connection>()
  let made = 0
  let letIn = 0
  let looked = 0
  let newest: Connection | null = null

  const server = await startWebSocketServer(socket => {
    made++
    signals.notify()
    const connection = createConnection(socket, {
      rules,
      received(node) {
        received.push(node)
        signals.notify()
      },
      opened() {
        letIn++
        newest = connection
        signals.notify()
      },
    })
    newest = connection
    live.add(connection)
    if (rules.cutAt === 'connect') socket.destroy()
    return {
      message: data => void connection.take(data),
      closed() {
        live.delete(connection)
        if (newest === connection) newest = [...live].at(-1) ?? null
        signals.notify()
      },
    }
  }, tls)

  const uploads: ChatappServer['uploads'] = []
  server.http.on('request', async (request, response) => {
    const bytes = await buffer(request)
    uploads.push({ path: request.url ?? '', bytes })
    signals.notify()
    const answer = JSON.stringify({ url: 'https://mmg.whatsapp.net/o1/v/t1', direct_path: '/o1/v/t1' })
    if (rules.media === 'take') response.end(answer)
    else if (rules.media === 'refuse') response.writeHead(401).end('{"error":"auth"}')
    else if (rules.media === 'cut') {
      response.writeHead(200, { 'Content-Length': answer.length })
      response.write(answer.slice(0, 5), () => response.destroy())
    }
  })
  rules.mediaHosts = [`localhost:${server.port}`]

  return {
    url: server.url,
    received,
    uploads,
    async next(fits) {
      let found: BinaryNode | undefined
      await signals.until(() => {
        while (looked < received.length && !found) {
          const node = received[looked++]!
          if (fits(node)) found = node
        }
        return found !== undefined
      })
      return found!
    },
    opened: count => signals.until(() => letIn >= count),
    uploaded: count => signals.until(() => uploads.length >= count),
    connected: count => signals.until(() => made >= count),
    connections: () => made,
    lines: count => signals.until(() => live.size === count),
    send: node => newest?.send(node),
    cut() {
      for (const connection of live) connection.destroy()
    },
    garbage: () => newest?.garbage(),
    set: next => void Object.assign(rules, next),
    close: server.close,
  }
}

type Connection = {
  take(data: Buffer): Promise<void>
  send(node: BinaryNode): void
  garbage(): void
  destroy(): void
}

type Hooks = { rules: Script; received(node: BinaryNode): void; opened(): void }

function createConnection(socket: ServerSocket, { rules, received, opened }: Hooks): Connection {
  const noise = createNoise()
  let stage: 'hello' | 'finish' | 'open' = 'hello'
  let turn: Promise<void> = Promise.resolve()

  async function take(data: Buffer): Promise<void> {
    for (const frame of noise.frames(data)) {
      if (stage === 'hello') {
        if (rules.cutAt === 'hello') return socket.destroy()
        socket.send(noise.hello(frame))
        stage = 'finish'
      } else if (stage === 'finish') {
        if (rules.cutAt === 'login') return socket.destroy()
        noise.finish(frame)
        stage = 'open'
        greet()
      } else await takeNode(await noise.open(frame))
    }
  }

  function greet(): void {
    const { login } = rules
    if (login === 'silent') return
    if (login === 'success') {
      send({ tag: 'success', attrs: { t: seconds(), lid: `${SELF}@lid` } })
      send({ tag: 'ib', attrs: {}, content: [{ tag: 'offline', attrs: { count: '0' } }] })
      opened()
    } else if (login === 'qr') {
      const refs = ['ref-one', 'ref-two'].map(ref => ({ tag: 'ref', attrs: {}, content: Buffer.from(ref) }))
      const pairing = { tag: 'pair-device', attrs: {}, content: refs }
      send({ tag: 'iq', attrs: { type: 'set', id: 'pair-1', from: 's.whatsapp.net' }, content: [pairing] })
      opened()
    } else send({ tag: 'failure', attrs: { reason: String(login.failure) } })
  }

  async function takeNode(node: BinaryNode): Promise<void> {
    received(node)
    if (node.tag === 'iq') return answerQuery(node)
    if (node.tag !== 'message') return
    const { message } = rules
    const attrs = { class: 'message', id: node.attrs['id']!, from: node.attrs['to']!, t: seconds() }
    if (message === 'ack') send({ tag: 'ack', attrs })
    else if (message === 'cut') socket.destroy()
    else if (message === 'garbage') garbage()
    else if (message !== 'silent') send({ tag: 'ack', attrs: { ...attrs, error: message.error } })
  }

  function answerQuery(node: BinaryNode): void {
    const { id = '', to = 's.whatsapp.net' } = node.attrs
    if (rules.hangsUpOverWhoIsThere && asksWhoIsThere(node)) socket.close()
    else if (isRefused(node)) {
      send({ tag: 'iq', attrs: { type: 'error', id, from: to }, content: [REFUSAL] })
    } else
      send({
        tag: 'iq',
        attrs: { type: 'result', id, from: to, t: seconds() },
        content: answerOf(node, rules),
      })
  }

  function isRefused(node: BinaryNode): boolean {
    if (node.attrs['xmlns'] === 'w:m') return rules.mediaHosts === null
    const asksForKeys = node.attrs['xmlns'] === 'encrypt' && children(node)[0]?.tag === 'key'
    return asksForKeys && rules.keys === 'refuse'
  }

  function send(node: BinaryNode): void {
    turn = turn.then(() => socket.send(noise.seal(node)))
  }

  function garbage(): void {
    socket.send(Buffer.from([0, 0, 5, 1, 2, 3, 4, 5]))
  }

  return { take, send, garbage, destroy: socket.destroy }
}

const REFUSAL: BinaryNode = { tag: 'error', attrs: { code: '503', text: 'service-unavailable' } }

function asksWhoIsThere(node: BinaryNode): boolean {
  const usync = children(node).find(child => child.tag === 'usync')
  return children(usync).some(
    child => child.tag === 'query' && children(child).some(each => each.tag === 'contact'),
  )
}

/** The response to a query: enough for the library to continue. */
function answerOf(node: BinaryNode, rules: Script): BinaryNode[] {
  const [child] = children(node)
  const xmlns = node.attrs['xmlns']
  if (xmlns === 'encrypt' && child?.tag === 'count') return [{ tag: 'count', attrs: { value: '50' } }]
  if (xmlns === 'encrypt' && child?.tag === 'digest') return [{ tag: 'digest', attrs: {} }]
  if (xmlns === 'encrypt' && child?.tag === 'key') return [keyList(child)]
  if (xmlns === 'usync' && child) return [usyncResult(child, rules)]
  if (xmlns === 'w:m') return [mediaServers(rules)]
  if (xmlns === 'w:g2') return [groupAnswer(node, rules)]
  return []
}

function mediaServers({ mediaHosts }: Script): BinaryNode {
  return {
    tag: 'media_conn',
    attrs: { auth: 'media-auth', ttl: '3600' },
    content: (mediaHosts ?? []).map(hostname => ({
      tag: 'host',
      attrs: { hostname, maxContentLengthBytes: '104857600' },
    })),
  }
}

function groupAnswer(node: BinaryNode, { groups }: Script): BinaryNode {
  const shown = groups.map(({ id, subject, participants }) => ({
    tag: 'group',
    attrs: { id: id.split('@')[0]!, subject, creation: seconds(), s_t: seconds(), addressing_mode: 'pn' },
    content: participants.map(jid => ({ tag: 'participant', attrs: { jid } })),
  }))
  if (children(node)[0]?.tag === 'participating') return { tag: 'groups', attrs: {}, content: shown }
  return shown.find(group => `${group.attrs.id}@g.us` === node.attrs['to']) ?? { tag: 'none', attrs: {} }
}

function usyncResult(usync: BinaryNode, rules: Script): BinaryNode {
  const list = children(usync).find(child => child.tag === 'list')
  const query = children(children(usync).find(child => child.tag === 'query'))
  const users = children(list).map(user => {
    const phone = Buffer.from((children(user)[0]?.content as Uint8Array | undefined) ?? '').toString()
    const jid = user.attrs['jid'] ?? `${phone.replace('+', '')}@s.whatsapp.net`
    return { tag: 'user', attrs: { jid }, content: query.flatMap(({ tag }) => factOf(tag, jid, rules)) }
  })
  return { tag: 'usync', attrs: usync.attrs, content: [{ tag: 'list', attrs: {}, content: users }] }
}

function factOf(tag: string, jid: string, { registered }: Script): BinaryNode[] {
  const user = jid.split('@')[0]!
  if (tag === 'contact') return [{ tag, attrs: { type: registered(`+${user}`) ? 'in' : 'out' } }]
  if (tag === 'lid') return [{ tag, attrs: { val: `${user}@lid` } }]
  if (tag !== 'devices') return []
  const list = { tag: 'device-list', attrs: {}, content: [{ tag: 'device', attrs: { id: '0' } }] }
  return [{ tag, attrs: {}, content: [list] }]
}

/** Keys of devices that do not exist: no one can decrypt what is encrypted for them. */
function keyList(keys: BinaryNode): BinaryNode {
  const users = children(keys).map(({ attrs }) => {
    const identity = baileys.Curve.generateKeyPair()
    return {
      tag: 'user',
      attrs: { jid: attrs['jid']! },
      content: [
        { tag: 'registration', attrs: {}, content: baileys.encodeBigEndian(4711) },
        { tag: 'type', attrs: {}, content: baileys.KEY_BUNDLE_TYPE },
        { tag: 'identity', attrs: {}, content: Buffer.from(identity.public) },
        baileys.xmppSignedPreKey(baileys.signedKeyPair(identity, 1)),
        baileys.xmppPreKey(baileys.Curve.generateKeyPair(), 1),
      ],
    }
  })
  return { tag: 'list', attrs: {}, content: users }
}

function children(node: BinaryNode | undefined): BinaryNode[] {
  return Array.isArray(node?.content) ? node.content : []
}

function seconds(): string {
  return String(Math.floor(Date.now() / 1_000))
}

// --- the protocol: Noise XX, of which the library is the client -------------

const EMPTY = Buffer.alloc(0)

function createNoise() {
  const { Curve, aesDecryptGCM, aesEncryptGCM, sha256, proto } = baileys
  const mode = Buffer.from(baileys.NOISE_MODE)
  let hash: Buffer = mode.length === 32 ? mode : sha256(mode)
  let salt = hash
  let key = hash
  let counter = 0
  let ephemeral = Curve.generateKeyPair()
  let held = Buffer.alloc(0)
  let greeted = false
  let transport: { read: Buffer; write: Buffer; readCount: number; writeCount: number } | null = null
  const authenticate = (data: Uint8Array) => {
    hash = sha256(Buffer.concat([hash, data]))
  }
  const derive = (data: Uint8Array) => {
    const both = baileys.hkdf(Buffer.from(data), 64, { salt, info: '' })
    return [Buffer.from(both.subarray(0, 32)), Buffer.from(both.subarray(32))] as const
  }
  const mix = (data: Uint8Array) => {
    ;[salt, key] = derive(data)
    counter = 0
  }
  const encrypt = (data: Uint8Array) => {
    const sealed = aesEncryptGCM(data, key, iv(counter++), hash)
    authenticate(sealed)
    return sealed
  }
  const decrypt = (data: Uint8Array) => {
    const plain = aesDecryptGCM(data, key, iv(counter++), hash)
    authenticate(data)
    return plain
  }
  authenticate(baileys.NOISE_WA_HEADER)

  return {
    *frames(data: Buffer): Generator<Buffer> {
      held = Buffer.concat([held, data])
      if (!greeted) held = held.subarray(baileys.NOISE_WA_HEADER.length)
      greeted = true
      while (held.length >= 3 && held.length >= 3 + held.readUIntBE(0, 3)) {
        const size = held.readUIntBE(0, 3)
        const frame = held.subarray(3, 3 + size)
        held = held.subarray(3 + size)
        yield frame
      }
    },
    hello(frame: Buffer): Buffer {
      const { clientHello } = proto.HandshakeMessage.decode(frame)
      const theirs = clientHello!.ephemeral!
      authenticate(theirs)
      ephemeral = Curve.generateKeyPair()
      const own = Curve.generateKeyPair()
      authenticate(ephemeral.public)
      mix(Curve.sharedKey(ephemeral.private, theirs))
      const sealedOwn = encrypt(own.public)
      mix(Curve.sharedKey(own.private, theirs))
      const serverHello = { ephemeral: ephemeral.public, static: sealedOwn, payload: encrypt(certificates()) }
      return sized(proto.HandshakeMessage.encode({ serverHello }).finish())
    },
    finish(frame: Buffer): void {
      const { clientFinish } = proto.HandshakeMessage.decode(frame)
      const theirs = decrypt(clientFinish!.static!)
      mix(Curve.sharedKey(ephemeral.private, theirs))
      decrypt(clientFinish!.payload!)
      const [read, write] = derive(EMPTY)
      transport = { read, write, readCount: 0, writeCount: 0 }
    },
    open: (frame: Buffer) =>
      baileys.decodeBinaryNode(aesDecryptGCM(frame, transport!.read, iv(transport!.readCount++), EMPTY)),
    seal: (node: BinaryNode) =>
      sized(
        aesEncryptGCM(baileys.encodeBinaryNode(node), transport!.write, iv(transport!.writeCount++), EMPTY),
      ),
  }
}

function iv(counter: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(counter, 8)
  return bytes
}

function sized(data: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from([(data.length >> 16) & 0xff, (data.length >> 8) & 0xff, data.length & 0xff]),
    data,
  ])
}

/**
 * The certificate chain from crabline: the client checks its signature, but not that it is for this server's
 * key.
 */
function certificates(): Buffer {
  const file = join(
    import.meta.dirname,
    '../../node_modules/@openclaw/crabline/dist/src/servers/whatsapp-baileys-websocket.js',
  )
  const [, text] = /CERT_CHAIN = Buffer\.from\("([A-Za-z0-9+/=]+)"/.exec(readFileSync(file, 'utf8')) ?? []
  if (text === undefined) throw new Error('crabline shows no certificates any more')
  return Buffer.from(text, 'base64')
}
