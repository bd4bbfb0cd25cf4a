import type { Socket } from 'node:net'
import type { Cancel, Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createControlRequests } from './control-requests.ts'
import { createInFlight, readSubmitResponse, type SubmitResult } from './in-flight.ts'
import {
  type BindRequest,
  COMMAND,
  createPduWriter,
  responseTo,
  type ShortMessage,
  type Tlvs,
  writeBind,
  writeHeaderOnly,
  writeIdResponse,
  writeShortMessage,
} from './pdu.ts'
import { createFramer, isResponse, type Pdu, readPdu } from './pdu-read.ts'
import { STATUS } from './status.ts'

export type OnResult = (answer: SubmitResult) => void

/**
 * Never rejects. Settles at once when `signal` aborts; a late response goes to `onLate`.
 * `onAnswer` is called synchronously when the response is read, before the next PDU is handled.
 */
export type Submit = (
  message: ShortMessage,
  signal: AbortSignal,
  onAnswer?: OnResult,
  onLate?: OnResult,
) => Promise<SubmitResult>

export type BindResult =
  | { kind: 'bound' }
  | { kind: 'refused'; status: number }
  | { kind: 'lost'; detail: string }

/** A message or receipt from the SMSC, in a deliver_sm or data_sm. */
export type Delivery = { message: ShortMessage; tlvs: Tlvs }

export type SessionDeps = {
  clock: Clock
  log: Log
  responseTimeoutMs: number
  enquireLinkMs: number
  /** Called in the order of arrival; resolves to the command_status of the response, which is then sent. */
  onDelivery(delivery: Delivery): Promise<number>
  /** A submit was settled: there is room for another. */
  onWindowSpace(): void
  /** Takes no more submits; called once, and always before `onClosed`. */
  onClosing(): void
  /** The socket is gone and every submit is settled; called once. */
  onClosed(reason: string): void
}

/** One connection to an SMSC, from bind to close. It is never used again after that. */
export type Session = {
  bind(command: number, request: BindRequest): Promise<BindResult>
  submit: Submit
  /** Submits without an answer. */
  inFlight(): number
  /** Answers the deliveries that are being stored, unbinds and closes; waits shortly for each step. */
  unbind(): Promise<void>
  destroy(reason: string): void
}

const HIGHEST_SEQUENCE = 0x7fffffff
/** With more deliveries than this in `onDelivery`, reading from the socket pauses. */
const MAX_DELIVERIES = 1000
const RESUME_DELIVERIES = 500
/** With more bytes than this that the SMSC has not read, reading from the socket pauses. */
const MAX_UNSENT_BYTES = 1_048_576
/** How long an unbind, ours or the SMSC's, waits for open responses, in each direction. */
const UNBIND_WAIT_MS = 1000
/** How long a closed session may take to send what it has written. */
const FLUSH_WAIT_MS = 1000

/**
 * To a delivery that cannot be stored now. The specification names 0x64 (ESME_RX_T_APPN) for it (3.4, 5.1.3), but
 * Vonage takes that as final and repeats for 0x08 among others; Kannel counts both as temporary.
 */
const TEMPORARY_FAILURE = STATUS.systemError

/** Runs the protocol over a socket that is connected, with TLS set up where configured. */
export function openSession(socket: Socket, deps: SessionDeps): Session {
  const { clock, log } = deps
  const writer = createPduWriter()
  const framer = createFramer()
  const controls = createControlRequests(clock)
  let sequence = 0
  let received = 0
  let deliveries = 0
  let state: 'open' | 'closing' | 'closed' = 'open'
  let paused = false
  let flushing = false
  let cancelEnquire: Cancel | null = null
  /** Called when a submit or a delivery was answered, and at the end. */
  let onProgress = (): void => {}

  const submits = createInFlight({
    clock,
    timeoutMs: deps.responseTimeoutMs,
    isReadingPaused: () => paused,
  })

  socket.setNoDelay(true)
  socket.on('data', receive)
  socket.on('drain', resumeReading)
  socket.on('end', () => destroy('the SMSC closed the connection'))
  socket.on('error', error => destroy(error.message))
  socket.on('close', () => destroy('the connection is gone'))

  // — outgoing —

  function nextSequence(): number {
    sequence = sequence === HIGHEST_SEQUENCE ? 1 : sequence + 1
    return sequence
  }

  /** Everything written in this turn of the event loop goes out with one write. */
  function flushSoon(): void {
    if (flushing) return
    flushing = true
    setImmediate(flush)
  }

  function flush(): void {
    flushing = false
    if (state === 'closed') return
    const bytes = writer.take()
    if (!bytes) return
    submits.markWritten()
    socket.write(bytes)
    if (socket.writableLength > MAX_UNSENT_BYTES) pauseReading()
  }

  function submit(
    message: ShortMessage,
    signal: AbortSignal,
    onAnswer?: OnResult,
    onLate?: OnResult,
  ): Promise<SubmitResult> {
    if (signal.aborted) return Promise.resolve({ kind: 'unwritten', detail: 'cancelled before it was sent' })
    if (state !== 'open') return Promise.resolve({ kind: 'unwritten', detail: 'the connection is closing' })
    const number = nextSequence()
    return new Promise(resolve => {
      const settled: OnResult = answer => {
        onAnswer?.(answer)
        resolve(answer)
        deps.onWindowSpace()
        onProgress()
      }
      submits.add(number, signal, settled, onLate)
      writeShortMessage(writer, COMMAND.submitSm, number, message)
      flushSoon()
    })
  }

  /** Sends a request other than a submit; null when no response comes in time. */
  function request(
    write: (number: number) => void,
    response: number,
    timeoutMs: number,
  ): Promise<Pdu | null> {
    if (state === 'closed') return Promise.resolve(null)
    const number = nextSequence()
    write(number)
    flushSoon()
    return controls.await(number, response, timeoutMs)
  }

  async function bind(command: number, bindRequest: BindRequest): Promise<BindResult> {
    const pdu = await request(
      number => writeBind(writer, command, number, bindRequest),
      responseTo(command),
      deps.responseTimeoutMs,
    )
    if (!pdu) {
      destroy('no response to the bind')
      return { kind: 'lost', detail: 'no response to the bind' }
    }
    if (pdu.kind !== 'bind_resp' || pdu.status !== STATUS.ok) {
      destroy('the bind was refused')
      return { kind: 'refused', status: pdu.status }
    }
    cancelEnquire = clock.after(deps.enquireLinkMs, enquire)
    return { kind: 'bound' }
  }

  /** Any PDU that comes back proves that the SMSC is alive; without one the session is closed. */
  async function enquire(): Promise<void> {
    const before = received
    await request(
      number => writeHeaderOnly(writer, COMMAND.enquireLink, 0, number),
      responseTo(COMMAND.enquireLink),
      deps.responseTimeoutMs,
    )
    if (state === 'closed') return
    if (received === before && !isBusy()) return destroy('no response to enquire_link')
    cancelEnquire = clock.after(deps.enquireLinkMs, enquire)
  }

  /** Reading is paused because we have too much to store; not because the SMSC does not read our responses. */
  function isBusy(): boolean {
    return paused && deliveries > RESUME_DELIVERIES
  }

  async function unbind(): Promise<void> {
    stopSubmits()
    await settled(isAnswered)
    await request(
      number => writeHeaderOnly(writer, COMMAND.unbind, 0, number),
      responseTo(COMMAND.unbind),
      UNBIND_WAIT_MS,
    )
    await settled(isAnswered)
    flush()
    destroy('closed by us')
  }

  /** A delivery that is stored but not answered comes again in the next session: a message without an id is then a new one. */
  const isAnswered = (): boolean => deliveries === 0

  /** Resolves when `isDone`, after UNBIND_WAIT_MS, or at the session's end. */
  function settled(isDone: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const cancel = clock.after(UNBIND_WAIT_MS, resolve)
      onProgress = () => {
        if (state !== 'closed' && !isDone()) return
        cancel()
        resolve()
      }
      onProgress()
    })
  }

  // — incoming —

  function receive(chunk: Buffer): void {
    if (state === 'closed') return
    if (!framer.feed(chunk, handleFrame)) destroy('the SMSC sent invalid SMPP')
  }

  function handleFrame(frame: Buffer): boolean {
    const pdu = readPdu(frame)
    if (state === 'closed') return false
    received++
    return isResponse(pdu.command) ? handleResponse(pdu) : handleRequest(pdu)
  }

  function handleResponse(pdu: Pdu): boolean {
    if (submits.has(pdu.sequence)) return settleSubmit(pdu)
    if (controls.has(pdu.sequence)) return controls.settle(pdu)
    handleStrayResponse(pdu)
    return true
  }

  /** A response that no submit waits for: too late, or a generic_nack to bytes that the SMSC could not read. */
  function handleStrayResponse(pdu: Pdu): void {
    const providerId = pdu.kind === 'message_resp' ? pdu.messageId : undefined
    const fields = { sequence: pdu.sequence, status: pdu.status, providerId }
    const answer = readSubmitResponse(pdu)
    if (answer && submits.settleLate(pdu.sequence, answer))
      log.warn(fields, 'smpp: a response came after its submit had timed out')
    else log.debug(fields, 'smpp: a response matches no request')
  }

  /** False where the response is of another command than the request. */
  function settleSubmit(pdu: Pdu): boolean {
    const answer = readSubmitResponse(pdu)
    if (answer) submits.settle(pdu.sequence, answer)
    return answer !== null
  }

  function handleRequest(pdu: Pdu): boolean {
    switch (pdu.command) {
      case COMMAND.deliverSm:
      case COMMAND.dataSm:
        if (pdu.kind === 'message') handleDelivery(pdu)
        else
          refuse(
            pdu,
            STATUS.invalidCommandLength,
            'smpp: a deliver_sm or data_sm that ends too early was refused',
          )
        return true
      case COMMAND.enquireLink:
        return answer(COMMAND.enquireLink, pdu.sequence)
      case COMMAND.unbind:
        return handleUnbind(pdu.sequence)
      case COMMAND.outbind:
      case COMMAND.alertNotification:
        return true
    }
    writeHeaderOnly(writer, COMMAND.genericNack, STATUS.invalidCommand, pdu.sequence)
    flushSoon()
    return true
  }

  function answer(command: number, number: number): true {
    writeHeaderOnly(writer, responseTo(command), STATUS.ok, number)
    flushSoon()
    return true
  }

  function handleUnbind(number: number): true {
    stopSubmits()
    void settled(() => isAnswered() && submits.size() === 0).then(() => {
      if (state === 'closed') return
      answer(COMMAND.unbind, number)
      flush()
      destroy('the SMSC unbound')
    })
    return true
  }

  /** Refused where the cut optional parameter may be the one that carries the text. */
  function handleDelivery(pdu: Extract<Pdu, { kind: 'message' }>): void {
    const hasText = !pdu.tlvsCut || pdu.message.body.length > 0
    if (hasText) deliver(pdu.command, pdu.sequence, pdu)
    else
      refuse(
        pdu,
        STATUS.invalidTlvs,
        'smpp: a deliver_sm or data_sm whose optional parameters end too early was refused',
      )
  }

  /** Refuses one PDU for good and keeps the bind: if we closed it, the SMSC would send the PDU again over the next one. */
  function refuse(pdu: Pdu, status: number, words: string): void {
    log.warn({ sequence: pdu.sequence }, words)
    writeIdResponse(writer, responseTo(pdu.command), status, pdu.sequence, '')
    flushSoon()
  }

  function deliver(command: number, number: number, delivery: Delivery): void {
    if (++deliveries > MAX_DELIVERIES) pauseReading()
    const respond = (status: number): void => {
      deliveries--
      if (state === 'closed') return
      writeIdResponse(writer, responseTo(command), status, number, '')
      flushSoon()
      resumeReading()
      onProgress()
    }
    deps.onDelivery(delivery).then(respond, () => respond(TEMPORARY_FAILURE))
  }

  function pauseReading(): void {
    paused = true
    socket.pause()
  }

  function resumeReading(): void {
    if (!paused || deliveries > RESUME_DELIVERIES || socket.writableLength > MAX_UNSENT_BYTES / 2) return
    paused = false
    socket.resume()
  }

  // — closing —

  function stopSubmits(): void {
    if (state !== 'open') return
    state = 'closing'
    deps.onClosing()
  }

  /** Ends the session: submits that were written become `unknown`, the others `unwritten`. */
  function destroy(reason: string): void {
    if (state === 'closed') return
    stopSubmits()
    state = 'closed'
    cancelEnquire?.()
    // Sends what was written last (such as an unbind_resp), unless the SMSC does not read.
    socket.destroySoon()
    socket.once(
      'close',
      clock.after(FLUSH_WAIT_MS, () => socket.destroy()),
    )
    controls.end()
    submits.end(reason)
    onProgress()
    deps.onClosed(reason)
  }

  return { bind, submit, inFlight: submits.size, unbind, destroy }
}
