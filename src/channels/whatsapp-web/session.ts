import type { proto } from 'baileys'
import { backoffMs } from '../../lib/backoff.ts'
import { beforeAbort, pauseUnlessAborted } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'
import type { SessionIo, SessionLink } from '../shared/session.ts'
import { type AuthState, loadAuthState } from './auth-state.ts'
import { createChatBook } from './chat-book.ts'
import type { WebConfig } from './config.ts'
import { createCompose } from './content.ts'
import {
  createDisconnectCounter,
  type Disconnect,
  type DisconnectCounter,
  readDisconnect,
} from './disconnects.ts'
import { createIncoming } from './incoming.ts'
import { phoneOf, withoutDevice } from './jid.ts'
import { type Baileys, loadBaileys } from './library.ts'
import { type Line, type LineEnd, openLine } from './line.ts'
import { createDownload, openMediaOf } from './media.ts'
import { attemptIdOf } from './message-id.ts'
import { paceOf } from './pace.ts'
import { createRecipients, queryRegistration } from './recipients.ts'
import { createSender, NOT_OPEN, type SentMessage } from './sender.ts'
import { createUploads } from './uploads.ts'

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000
/** How long the server may take to accept the login, or to send a code. */
const GREETING_MS = 30_000
/** A code on the screen of a phone; the first QR code lives this long too. */
const PAIRING_MS = 60_000
/** The library does not wait for the answer to its request for a pairing code: a refusal within this time is taken for that answer. */
const REFUSED_WITHIN_MS = 10_000
/** Sent messages kept in memory, for recipients who ask for them again. */
const MAX_REMEMBERED = 256

/** How a line ended. */
type LineOutcome = Disconnect | { kind: 'released' }
type Reconnectable = Extract<Disconnect, { kind: 'restart' | 'lost' }>

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
  const remembered = createLru<string, SentMessage>(MAX_REMEMBERED)
  const book = createChatBook(io)
  const incoming = createIncoming(baileys, auth, io, book)
  const recipients = createRecipients(clock, async phone =>
    isOpen && line ? queryRegistration(line, phone) : 'no line',
  )
  const uploads = createUploads({ clock, tlsCa: config.tlsCa })
  const send = createSender({
    log: io.log,
    compose: createCompose({ baileys, clock, random: io.random, uploads }),
    isRegistered: phone => (config.checkRecipients ? recipients.isRegistered(phone) : Promise.resolve(null)),
    rememberSent: (id, sent) => remembered.set(id, sent),
    reportLateOutcome: late => io.reportLateOutcome(late),
  })
  const releasing = new AbortController()
  let opening = Promise.withResolvers<void>()
  let line: Line | null = null
  let isOpen = false
  let isReleased = false
  let groupsAreKnown = false
  let codeRequestedMs = Number.NEGATIVE_INFINITY
  let pairedAtMs = io.pairedAtMs
  const running = run().catch(error => {
    io.log.warn({ err: error }, 'a web session failed with an unexpected error')
    io.reportState({
      state: 'closed',
      detail: 'the session failed with an unexpected error; restart it',
      reconnects: false,
    })
  })

  // --- from connection to connection ----------------------------------------

  async function run(): Promise<void> {
    io.reportState({ state: 'connecting' })
    const disconnects = createDisconnectCounter(clock)
    while (!isReleased) {
      const { end, openMs } = await runLine()
      switch (end.kind) {
        case 'released':
          return
        case 'logged_out':
          return io.reportState({ state: 'logged_out', detail: end.detail })
        case 'over':
          return io.reportState({ state: 'closed', detail: end.detail, reconnects: false })
        case 'restart':
        case 'lost':
          await waitToReconnect(end, disconnects.add(openMs))
      }
    }
  }

  /** The first reconnect follows at once, later ones with growing pauses; reports an outage that lasts. */
  async function waitToReconnect(
    end: Reconnectable,
    { failures, lasts }: ReturnType<DisconnectCounter['add']>,
  ): Promise<void> {
    const { detail } = end
    if (failures === 1) return end.kind === 'lost' ? io.reportState({ state: 'connecting' }) : undefined
    if (lasts) io.reportState({ state: 'closed', detail, reconnects: true })
    const pauseMs = backoffMs(FIRST_PAUSE_MS, failures - 1, io.random, MAX_PAUSE_MS)
    await pauseUnlessAborted(clock, pauseMs, releasing.signal)
    await storeCreds()
  }

  /** Stores the credentials before a reconnect. The store refuses if another node holds the session, which a reconnect here would cut off. */
  async function storeCreds(): Promise<void> {
    await auth.saveCreds().catch(release)
  }

  function release(error: unknown): void {
    if (!isReleased)
      io.log.warn({ err: error }, 'the keys of a web session could not be stored; the session is released')
    isReleased = true
    line?.end()
  }

  /** One connection, to its end. */
  async function runLine(): Promise<{ end: LineOutcome; openMs: number | null }> {
    let openedMs: number | null = null
    let showed = false
    let refused = false
    const linkedBefore = isLinked()
    if (!linkedBefore) discardPendingPairing()
    const greeted = Promise.withResolvers<void>()
    const current = openLine({
      baileys,
      clock,
      config,
      auth,
      log: io.log,
      sentMessage,
      on: {
        ...incoming,
        qrShown(text) {
          showed = true
          greeted.resolve()
          void showPairing(current, text)
        },
        queryRefused() {
          if (isLinked() || clock.monotonic() - codeRequestedMs > REFUSED_WITHIN_MS) return
          refused = true
          current.end()
        },
        opened() {
          openedMs = clock.monotonic()
          greeted.resolve()
          handleOpen(current)
        },
        keysNotStored: release,
      },
    })
    line = current
    const cancel = clock.after(GREETING_MS, () => greeted.reject(new Error('no greeting')))
    greeted.promise.catch(() => current.end())
    const { code, detail } = (await beforeAbort(endOf(current), releasing.signal)) ?? RELEASED
    cancel()
    greeted.resolve()
    handleClosed(current)
    // Its last credentials must be stored before the keys are read again.
    await storeCreds()
    const openMs = openedMs === null ? null : clock.monotonic() - openedMs
    if (isReleased) return { end: { kind: 'released' }, openMs }
    if (refused) return { end: NO_CODE, openMs }
    const linked = linkedBefore || openedMs !== null
    return { end: readDisconnect(code, detail, { linked, showed }), openMs }
  }

  function isLinked(): boolean {
    return auth.creds.account !== undefined || pairedAtMs !== null
  }

  /** A pairing code that was not typed has set an account in the credentials already, and the server would refuse us as that account. */
  function discardPendingPairing(): void {
    delete auth.creds.me
    delete auth.creds.pairingCode
  }

  async function showPairing(current: Line, text: string): Promise<void> {
    const untilMs = clock.now() + PAIRING_MS
    if (io.askedPhone === null) return io.reportState({ state: 'qr', text, untilMs })
    try {
      // One pairing code, where a QR code would be renewed several times.
      if (auth.creds.pairingCode) return
      codeRequestedMs = clock.monotonic()
      const code = await current.sock.requestPairingCode(io.askedPhone.slice(1))
      io.reportState({ state: 'pairing_code', code, untilMs: untilMs + 2 * PAIRING_MS })
    } catch (error) {
      io.log.warn({ err: error }, 'a pairing code was refused')
      current.end()
    }
  }

  function handleOpen(current: Line): void {
    isOpen = true
    pairedAtMs ??= clock.now()
    io.report({ state: 'up', detail: '' })
    void reportOpen(current)
    opening.resolve()
    if (!groupsAreKnown) void askForGroups(current)
  }

  /** Reports `open` only after the keys are stored: should the process end now, the session needs no new pairing. */
  async function reportOpen(current: Line): Promise<void> {
    await storeCreds()
    if (line !== current || !isOpen) return
    const me = auth.creds.me
    io.reportState({
      state: 'open',
      phone: phoneOf(me?.id),
      pushName: me?.name && me.name !== '~' ? me.name : null,
    })
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

  function handleClosed(current: Line): void {
    if (line === current) line = null
    if (isOpen) opening = Promise.withResolvers<void>()
    isOpen = false
    current.end()
    io.report({ state: 'down', detail: 'the web session is not connected' })
  }

  // --- retries of messages that a recipient could not decrypt ----------------

  /** Anybody who knows an id may ask for its message: only its recipient gets it. */
  async function sentMessage(id: string, chat: string): Promise<proto.IMessage | undefined> {
    const sent = remembered.get(id) ?? (await loadSentMessage(id))
    return sent && (await isRecipient(chat, sent.to)) ? sent.message : undefined
  }

  async function loadSentMessage(id: string): Promise<SentMessage | null> {
    const messageId = attemptIdOf(id)?.split('.')[0]
    const known = messageId === undefined ? null : await io.sentText(messageId)
    return known && { to: known.to, message: { extendedTextMessage: { text: known.text } } }
  }

  /** A person may ask under an id that hides their number (LID). Where its number is not known, it may be theirs. */
  async function isRecipient(chat: string, to: string): Promise<boolean> {
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
      if (isReleased) return ALREADY_RELEASED
      return isOpen && line?.isOpen() ? send(line, message, signal) : NOT_OPEN
    },
    async reaches(to) {
      if (!to.startsWith('+') || !config.checkRecipients) return true
      const answer = await recipients.isRegistered(to)
      if (answer === null) throw new Error('WhatsApp did not answer whether the number is registered')
      return answer
    },
    openMedia: ({ reference }, signal) => openMediaOf(baileys, reference, createDownload(clock), signal),
    async logOut(signal) {
      await beforeAbort(Promise.race([opening.promise, running]), signal)
      if (!isOpen || !line) return
      const loggedOut = line.sock.logout().catch(() => {})
      await beforeAbort(loggedOut, signal)
    },
    async close() {
      const last = line
      isReleased = true
      releasing.abort()
      last?.end()
      await running
      // Until then the library may still pass on messages that it has acknowledged.
      if (last) await endOf(last)
    },
  }
}

function endOf(line: Line): Promise<LineEnd> {
  return new Promise(resolve => line.onEnd(resolve))
}

/** No retry: repeated requests for a code that is refused get numbers banned. */
const NO_CODE = {
  kind: 'over',
  detail: 'WhatsApp gave no pairing code for this number; restart the session to try again',
} as const

const RELEASED = { code: undefined, detail: 'released' }

const ALREADY_RELEASED = { kind: 'retry', detail: 'this node has released the web session' } as const
