import type { proto } from 'baileys'
import { backoffMs } from '../../lib/backoff.ts'
import { pause } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'
import type { SessionIo, SessionLink } from '../shared/session.ts'
import { type AuthState, loadAuthState } from './auth-state.ts'
import { createChatBook } from './chat-book.ts'
import type { WebConfig } from './config.ts'
import { createDrops, type Drop, type Drops, readDrop } from './drops.ts'
import { createHearing } from './hearing.ts'
import { phoneOf } from './jid.ts'
import { type Baileys, loadBaileys } from './library.ts'
import { type Line, openLine } from './line.ts'
import { openMediaOf } from './media.ts'
import { attemptIdOf } from './message-id.ts'
import { paceOf } from './pace.ts'
import { createRecipients } from './recipients.ts'
import { createSender, NOT_OPEN } from './sender.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** To be let in, or to be shown what links us. */
const GREETING_MS = 30_000
/** A code on the screen of a phone; the first QR code lives this long too. */
const PAIRING_MS = 60_000
/** Messages of ours that a recipient may ask for again without the store. */
const REMEMBERED = 256

/** How a line came to its end. */
type End = Drop | { kind: 'let_go' }

/**
 * Holds one session: connects, shows what links it, sends and hears, and connects
 * again when the line drops. What it cannot mend it tells and rests.
 */
export async function openWebSession(config: WebConfig, io: SessionIo): Promise<SessionLink> {
  const baileys = await loadBaileys(io.log)
  const auth = await loadAuthState(baileys, io.keys)
  return createSession(baileys, auth, config, io)
}

function createSession(baileys: Baileys, auth: AuthState, config: WebConfig, io: SessionIo): SessionLink {
  const { clock } = io
  const remembered = createLru<string, proto.IMessage>(REMEMBERED)
  const book = createChatBook(io)
  const hearing = createHearing(baileys, auth, io, book)
  const recipients = createRecipients(clock, askWhoIsThere)
  const send = createSender({
    baileys,
    log: io.log,
    isThere: phone => (config.checkRecipients ? recipients.isThere(phone) : Promise.resolve(null)),
    sent: (id, message) => remembered.set(id, message),
  })
  const released = Promise.withResolvers<void>()
  let openings = Promise.withResolvers<void>()
  let line: Line | null = null
  let isOpen = false
  let letGo = false
  let groupsAreKnown = false
  let pairedAtMs = io.pairedAtMs
  const running = run().catch(error => {
    io.log.warn({ err: error }, 'a web session has failed')
    io.tell({ state: 'closed', detail: 'it failed in an unforeseen way; restart it', goesOn: false })
  })

  // --- from connection to connection ----------------------------------------

  async function run(): Promise<void> {
    io.tell({ state: 'connecting' })
    const drops = createDrops(clock)
    while (!letGo) {
      const { end, opened } = await live()
      switch (end.kind) {
        case 'let_go':
          return
        case 'logged_out':
          return io.tell({ state: 'logged_out', detail: end.detail })
        case 'over':
          return io.tell({ state: 'closed', detail: end.detail, goesOn: false })
        case 'lost':
          await wait(drops, opened, end.detail)
      }
    }
  }

  /** The first try follows at once; then more slowly, with a word when it has lasted. */
  async function wait(drops: Drops, opened: boolean, detail: string): Promise<void> {
    const { failures, lasts } = drops.add(opened)
    if (failures === 1) return io.tell({ state: 'connecting' })
    if (lasts) io.tell({ state: 'closed', detail, goesOn: true })
    const pauseMs = backoffMs(FIRST_PAUSE_MS, failures - 1, io.random, LONGEST_PAUSE_MS)
    await Promise.race([pause(clock, pauseMs), released.promise])
  }

  /** One connection, to its end. */
  async function live(): Promise<{ end: End; opened: boolean }> {
    let opened = false
    let showed = false
    const linkedBefore = isLinked()
    if (!linkedBefore) forgetHalfLink()
    const greeted = Promise.withResolvers<void>()
    const current = openLine({
      baileys,
      config,
      auth,
      log: io.log,
      sentMessage,
      on: {
        ...hearing,
        showsQr(text) {
          showed = true
          greeted.resolve()
          void showPairing(current, text)
        },
        opened() {
          opened = true
          greeted.resolve()
          noteOpen(current)
        },
        lost(error) {
          io.log.warn({ err: error }, 'the keys of a web session could not be kept; it is let go')
          letGo = true
          current.end()
        },
      },
    })
    line = current
    const cancel = clock.after(GREETING_MS, () => greeted.reject(new Error('no greeting')))
    greeted.promise.catch(() => current.end())
    const { code, detail } = await Promise.race([current.ended, released.promise.then(() => LET_GO)])
    cancel()
    greeted.resolve()
    noteClosed(current)
    // What it wrote last is kept before anybody reads the keys anew.
    await auth.saveCreds().catch(() => {})
    if (letGo) return { end: { kind: 'let_go' }, opened }
    return { end: readDrop(code, detail, { linked: linkedBefore || opened, showed }), opened }
  }

  function isLinked(): boolean {
    return auth.creds.account !== undefined || pairedAtMs !== null
  }

  /** A code that nobody typed has named an account already, as which we would be refused. */
  function forgetHalfLink(): void {
    delete auth.creds.me
    delete auth.creds.pairingCode
  }

  async function showPairing(current: Line, text: string): Promise<void> {
    const untilMs = clock.now() + PAIRING_MS
    if (io.askedPhone === null) return io.tell({ state: 'qr', text, untilMs })
    try {
      // One code for all the time in which the QR code would have been renewed.
      if (auth.creds.pairingCode) return
      const code = await current.sock.requestPairingCode(io.askedPhone.slice(1))
      io.tell({ state: 'pairing_code', code, untilMs: untilMs + 2 * PAIRING_MS })
    } catch (error) {
      io.log.warn({ err: error }, 'a pairing code was refused')
      current.end()
    }
  }

  function noteOpen(current: Line): void {
    isOpen = true
    pairedAtMs ??= clock.now()
    io.report({ state: 'up', detail: '' })
    const me = auth.creds.me
    io.tell({ state: 'open', phone: phoneOf(me?.id), pushName: me?.name && me.name !== '~' ? me.name : null })
    openings.resolve()
    if (!groupsAreKnown) void askForGroups(current)
  }

  /** Once: groups that come later are told. */
  async function askForGroups({ sock }: Line): Promise<void> {
    try {
      book.groups(Object.values(await sock.groupFetchAllParticipating()))
      groupsAreKnown = true
    } catch {
      // The next line asks again.
    }
  }

  function noteClosed(current: Line): void {
    if (line === current) line = null
    if (isOpen) openings = Promise.withResolvers<void>()
    isOpen = false
    current.end()
    io.report({ state: 'down', detail: 'the web session is not connected' })
  }

  // --- what the connection asks, and is asked -------------------------------

  async function sentMessage(id: string): Promise<proto.IMessage | undefined> {
    const held = remembered.get(id)
    if (held) return held
    const messageId = attemptIdOf(id)?.split('.')[0]
    const text = messageId === undefined ? null : await io.sentText(messageId)
    return text === null ? undefined : { extendedTextMessage: { text } }
  }

  async function askWhoIsThere(phone: string): Promise<boolean | null> {
    const asked = isOpen ? line : null
    if (!asked) return null
    const answer = asked.sock.onWhatsApp(phone).then(found => found?.some(each => each.exists) ?? false)
    return Promise.race([answer, asked.ended.then(() => null)])
  }

  return {
    concurrency: 1,
    get messagesPerSecond() {
      return paceOf(config, pairedAtMs, clock.now()).messagesPerMinute / 60
    },
    pace: () => paceOf(config, pairedAtMs, clock.now()),
    async send(message, signal) {
      if (letGo) return LET_GO_ALREADY
      return isOpen && line ? send(line, message, signal) : NOT_OPEN
    },
    async reaches(to) {
      if (!to.startsWith('+') || !config.checkRecipients) return true
      const answer = await recipients.isThere(to)
      if (answer === null) throw new Error('nobody says')
      return answer
    },
    openMedia: (request, signal) => openMediaOf(baileys, request.reference, signal),
    async logOut(signal) {
      const late = new Promise<void>(resolve =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      )
      await Promise.race([openings.promise, late, running])
      if (isOpen && line) await Promise.race([line.sock.logout().catch(() => {}), late])
    },
    async close() {
      letGo = true
      released.resolve()
      line?.end()
      await running
    },
  }
}

const LET_GO = { code: undefined, detail: 'let go' }

const LET_GO_ALREADY = { kind: 'retry', detail: 'this node has let go of the web session' } as const
