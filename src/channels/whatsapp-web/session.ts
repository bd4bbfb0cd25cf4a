import type { proto } from 'baileys'
import { backoffMs } from '../../lib/backoff.ts'
import { beforeAbort, pauseUnless } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'
import type { SessionIo, SessionLink } from '../shared/session.ts'
import { type AuthState, loadAuthState } from './auth-state.ts'
import { createChatBook } from './chat-book.ts'
import type { WebConfig } from './config.ts'
import { createCompose } from './content.ts'
import { createDrops, type Drop, type Drops, readDrop } from './drops.ts'
import { createHearing } from './hearing.ts'
import { phoneOf, withoutDevice } from './jid.ts'
import { type Baileys, loadBaileys } from './library.ts'
import { type Line, type LineEnd, openLine } from './line.ts'
import { downloadBy, openMediaOf } from './media.ts'
import { attemptIdOf } from './message-id.ts'
import { paceOf } from './pace.ts'
import { askWhoIsThere, createRecipients } from './recipients.ts'
import { createSender, NOT_OPEN, type SentMessage } from './sender.ts'
import { createUploads } from './uploads.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** How long the server may take to accept the login, or to send a code. */
const GREETING_MS = 30_000
/** A code on the screen of a phone; the first QR code lives this long too. */
const PAIRING_MS = 60_000
/** The library does not wait for the answer to its request for a pairing code: a refusal within this time is taken for that answer. */
const REFUSED_WITHIN_MS = 10_000
/** Sent messages kept in memory, for recipients who ask for them again. */
const REMEMBERED = 256

/** How a line ended. */
type End = Drop | { kind: 'let_go' }
type Dropped = Extract<Drop, { kind: 'restart' | 'lost' }>

/**
 * Holds one session: connects, shows its QR or pairing code, sends and receives, and reconnects
 * when the line drops. A fault that a reconnect cannot cure is reported, and the session stops.
 */
export async function openWebSession(config: WebConfig, io: SessionIo): Promise<SessionLink> {
  const baileys = await loadBaileys(io.log)
  const auth = await loadAuthState(baileys, io.keys)
  return createSession(baileys, auth, config, io)
}

function createSession(baileys: Baileys, auth: AuthState, config: WebConfig, io: SessionIo): SessionLink {
  const { clock } = io
  const remembered = createLru<string, SentMessage>(REMEMBERED)
  const book = createChatBook(io)
  const hearing = createHearing(baileys, auth, io, book)
  const recipients = createRecipients(clock, async phone =>
    isOpen && line ? askWhoIsThere(line, phone) : 'no line',
  )
  const uploads = createUploads({ clock, tlsCa: config.tlsCa })
  const send = createSender({
    log: io.log,
    compose: createCompose({ baileys, clock, random: io.random, uploads }),
    isThere: phone => (config.checkRecipients ? recipients.isThere(phone) : Promise.resolve(null)),
    sent: (id, sent) => remembered.set(id, sent),
    tellLate: late => io.tellLate(late),
  })
  const released = new AbortController()
  let openings = Promise.withResolvers<void>()
  let line: Line | null = null
  let isOpen = false
  let letGo = false
  let groupsAreKnown = false
  let codeAskedMs = Number.NEGATIVE_INFINITY
  let pairedAtMs = io.pairedAtMs
  const running = run().catch(error => {
    io.log.warn({ err: error }, 'a web session failed with an unexpected error')
    io.tell({
      state: 'closed',
      detail: 'the session failed with an unexpected error; restart it',
      goesOn: false,
    })
  })

  // --- from connection to connection ----------------------------------------

  async function run(): Promise<void> {
    io.tell({ state: 'connecting' })
    const drops = createDrops(clock)
    while (!letGo) {
      const { end, openMs } = await live()
      switch (end.kind) {
        case 'let_go':
          return
        case 'logged_out':
          return io.tell({ state: 'logged_out', detail: end.detail })
        case 'over':
          return io.tell({ state: 'closed', detail: end.detail, goesOn: false })
        case 'restart':
        case 'lost':
          await wait(end, drops.add(openMs))
      }
    }
  }

  /** The first reconnect follows at once, later ones with growing pauses; reports an outage that lasts. */
  async function wait(end: Dropped, { failures, lasts }: ReturnType<Drops['add']>): Promise<void> {
    const { detail } = end
    if (failures === 1) return end.kind === 'lost' ? io.tell({ state: 'connecting' }) : undefined
    if (lasts) io.tell({ state: 'closed', detail, goesOn: true })
    const pauseMs = backoffMs(FIRST_PAUSE_MS, failures - 1, io.random, LONGEST_PAUSE_MS)
    await pauseUnless(clock, pauseMs, released.signal)
    await keepCreds()
  }

  /** Stores the credentials before a reconnect. The store refuses if another node holds the session, which a reconnect here would cut off. */
  async function keepCreds(): Promise<void> {
    await auth.saveCreds().catch(lose)
  }

  function lose(error: unknown): void {
    if (!letGo)
      io.log.warn({ err: error }, 'the keys of a web session could not be stored; the session is released')
    letGo = true
    line?.end()
  }

  /** One connection, to its end. */
  async function live(): Promise<{ end: End; openMs: number | null }> {
    let openedMs: number | null = null
    let showed = false
    let refused = false
    const linkedBefore = isLinked()
    if (!linkedBefore) forgetHalfLink()
    const greeted = Promise.withResolvers<void>()
    const current = openLine({
      baileys,
      clock,
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
        refusedQuery() {
          if (isLinked() || clock.monotonic() - codeAskedMs > REFUSED_WITHIN_MS) return
          refused = true
          current.end()
        },
        opened() {
          openedMs = clock.monotonic()
          greeted.resolve()
          noteOpen(current)
        },
        lost: lose,
      },
    })
    line = current
    const cancel = clock.after(GREETING_MS, () => greeted.reject(new Error('no greeting')))
    greeted.promise.catch(() => current.end())
    const ended = new Promise<LineEnd>(resolve => current.atEnd(resolve))
    const { code, detail } = (await beforeAbort(ended, released.signal)) ?? LET_GO
    cancel()
    greeted.resolve()
    noteClosed(current)
    // Its last credentials must be stored before the keys are read again.
    await keepCreds()
    const openMs = openedMs === null ? null : clock.monotonic() - openedMs
    if (letGo) return { end: { kind: 'let_go' }, openMs }
    if (refused) return { end: NO_CODE, openMs }
    const linked = linkedBefore || openedMs !== null
    return { end: readDrop(code, detail, { linked, showed }), openMs }
  }

  function isLinked(): boolean {
    return auth.creds.account !== undefined || pairedAtMs !== null
  }

  /** A pairing code that was not typed has set an account in the credentials already, and the server would refuse us as that account. */
  function forgetHalfLink(): void {
    delete auth.creds.me
    delete auth.creds.pairingCode
  }

  async function showPairing(current: Line, text: string): Promise<void> {
    const untilMs = clock.now() + PAIRING_MS
    if (io.askedPhone === null) return io.tell({ state: 'qr', text, untilMs })
    try {
      // One pairing code, where a QR code would be renewed several times.
      if (auth.creds.pairingCode) return
      codeAskedMs = clock.monotonic()
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
    void tellOpen(current)
    openings.resolve()
    if (!groupsAreKnown) void askForGroups(current)
  }

  /** Reports `open` only after the keys are stored: should the process end now, the session needs no new pairing. */
  async function tellOpen(current: Line): Promise<void> {
    await keepCreds()
    if (line !== current || !isOpen) return
    const me = auth.creds.me
    io.tell({ state: 'open', phone: phoneOf(me?.id), pushName: me?.name && me.name !== '~' ? me.name : null })
  }

  /** Asked once: groups that are added later are reported as they come. */
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

  // --- retries of messages that a recipient could not decrypt ----------------

  /** Anybody who knows an id may ask for its message: only its recipient gets it. */
  async function sentMessage(id: string, chat: string): Promise<proto.IMessage | undefined> {
    const sent = remembered.get(id) ?? (await sentEarlier(id))
    return sent && (await isOf(chat, sent.to)) ? sent.message : undefined
  }

  async function sentEarlier(id: string): Promise<SentMessage | null> {
    const messageId = attemptIdOf(id)?.split('.')[0]
    const known = messageId === undefined ? null : await io.sentText(messageId)
    return known && { to: known.to, message: { extendedTextMessage: { text: known.text } } }
  }

  /** A person may ask under an id that hides their number (LID). Where its number is not known, it may be theirs. */
  async function isOf(chat: string, to: string): Promise<boolean> {
    if (!chat.endsWith('@lid') || !to.startsWith('+')) return (phoneOf(chat) ?? withoutDevice(chat)) === to
    const jid = await line?.sock.signalRepository.lidMapping.getPNForLID(chat)
    return !jid || phoneOf(jid) === to
  }

  return {
    concurrency: 1,
    get messagesPerSecond() {
      return paceOf(config, pairedAtMs, clock.now()).messagesPerMinute / 60
    },
    pace: () => paceOf(config, pairedAtMs, clock.now()),
    async send(message, signal) {
      if (letGo) return LET_GO_ALREADY
      return isOpen && line?.isUp() ? send(line, message, signal) : NOT_OPEN
    },
    async reaches(to) {
      if (!to.startsWith('+') || !config.checkRecipients) return true
      const answer = await recipients.isThere(to)
      if (answer === null) throw new Error('WhatsApp did not answer whether the number is registered')
      return answer
    },
    openMedia: ({ reference }, signal) => openMediaOf(baileys, reference, downloadBy(clock), signal),
    async logOut(signal) {
      await beforeAbort(Promise.race([openings.promise, running]), signal)
      if (!isOpen || !line) return
      const loggedOut = line.sock.logout().catch(() => {})
      await beforeAbort(loggedOut, signal)
    },
    async close() {
      letGo = true
      released.abort()
      line?.end()
      await running
    },
  }
}

/** No retry: repeated requests for a code that is refused get numbers banned. */
const NO_CODE = {
  kind: 'over',
  detail: 'WhatsApp gave no pairing code for this number; restart the session to try again',
} as const

const LET_GO = { code: undefined, detail: 'released' }

const LET_GO_ALREADY = { kind: 'retry', detail: 'this node has released the web session' } as const
