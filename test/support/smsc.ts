import { once } from 'node:events'
import smpp, { type Fields, type PDU, type Session } from 'smpp'
import { freePort, listen } from './loopback.ts'
import { createSignals } from './signals.ts'

/**
 * How an SMSC behaves. It uses the independent codec of the `smpp` package, which decodes texts by its own
 * tables.
 */
export type SmscBehaviour =
  | 'accept'
  /** Unknown recipient: a final refusal. */
  | 'reject'
  | 'throttle'
  /** A system error, which may pass. */
  | 'temporary-failure'
  /** Accepts submits without a response. */
  | 'silent'
  | 'reset-after-submit'
  | 'refuse-connection'
  /** Answers a submit with bytes that are not SMPP. */
  | 'garbage'
  /** Answers a submit with half a PDU and then nothing. */
  | 'half'
  /** Accepts connections without a response to binds. */
  | 'slow-connect'
  | 'refuse-bind'

export type Smsc = {
  port: number
  /** All submit_sm, in order; `message.text` as the package decoded it. */
  submits: readonly Submit[]
  /** The fields of every bind request, in order. */
  bindRequests: readonly Fields[]
  /** All other commands, in order. */
  commands: readonly string[]
  /** Status of every deliver_sm_resp. */
  acknowledgements: readonly number[]
  connected(count: number): Promise<void>
  bound(count: number): Promise<void>
  submitted(count: number): Promise<void>
  acknowledged(count: number): Promise<void>
  commanded(command: string): Promise<void>
  /** Resolves when no connection is open. */
  idle(): Promise<void>
  /** Sends a deliver_sm on the latest receiver or transceiver. */
  deliver(fields: Fields): void
  /** Writes raw bytes to the latest connection. */
  write(bytes: Buffer): void
  /** Sends a PDU on the latest connection. */
  send(command: string, fields?: Fields): void
  /** Cuts every connection. */
  reset(): void
  /** Changes how binds and submits are answered from now on. */
  behave(next: SmscBehaviour | Answer): void
  close(): Promise<void>
}

export type Submit = Fields & {
  text: string
  udh: Buffer | null
  sequence: number
  session: Session
  /** The command that bound the session, such as `bind_transmitter`; null before a bind was accepted. */
  boundBy: string | null
}

/** The response to a submit; `null` for none. `before` runs first. */
export type Answer = (
  submit: Submit,
  nth: number,
) => { status?: number; id?: string; command?: string; before?: () => void } | null

export type SmscOptions = {
  port?: number
  tls?: { key: string; cert: string }
  answerEnquiries?: boolean
  /** Refuses a bind with this status while another connection is bound. */
  oneBind?: number
  /** The default alphabet (data_coding 0), of all SMSCs in the process; GSM 03.38 unless set. */
  alphabet?: 'LATIN1'
}

const RINVDSTADR = 0x0b
const RSYSERR = 0x08
const RINVPASWD = 0x0e
const RTHROTTLED = 0x58

export async function startSmsc(
  behaviour: SmscBehaviour | Answer = 'accept',
  options: SmscOptions = {},
): Promise<Smsc> {
  smpp.encodings.default = options.alphabet ?? 'ASCII'
  const signals = createSignals()
  const submits: Submit[] = []
  const commands: string[] = []
  const acknowledgements: number[] = []
  const sessions = new Set<Session>()
  const bindRequests: Fields[] = []
  /** The command that bound each session. */
  const binds = new Map<Session, string>()
  let current = behaviour
  let latest: Session | null = null
  let receiver: Session | null = null
  let connected = 0
  let bound = 0

  function serve(session: Session): void {
    session.socket.setNoDelay(true)
    sessions.add(session)
    latest = session
    connected++
    signals.notify()
    session.on('error', () => session.socket.destroy())
    session.on('close', () => {
      sessions.delete(session)
      binds.delete(session)
      signals.notify()
    })
    session.on('pdu', pdu => {
      take(session, pdu)
      signals.notify()
    })
  }

  function take(session: Session, pdu: PDU): void {
    if (pdu.command === 'submit_sm') takeSubmit(session, pdu)
    else takeOther(session, pdu)
  }

  function takeOther(session: Session, pdu: PDU): void {
    commands.push(pdu.command)
    if (pdu.command.startsWith('bind_') && !pdu.command.endsWith('_resp')) answerBind(session, pdu)
    else if (pdu.command === 'deliver_sm_resp' || pdu.command === 'data_sm_resp') {
      acknowledgements.push(pdu.command_status)
      return
    }
    if (pdu.command === 'unbind') binds.delete(session)
    if (pdu.command === 'enquire_link' && options.answerEnquiries === false) return
    if (pdu.command === 'enquire_link' || pdu.command === 'unbind') session.send(pdu.response())
  }

  function answerBind(session: Session, pdu: PDU): void {
    bindRequests.push(pdu)
    if (current === 'slow-connect') return
    if (current === 'refuse-bind') return void session.send(pdu.response({ command_status: RINVPASWD }))
    if (options.oneBind !== undefined && binds.size > 0) {
      return void session.send(pdu.response({ command_status: options.oneBind }))
    }
    binds.set(session, pdu.command)
    session.send(pdu.response({ system_id: 'smsc' }))
    if (pdu.command !== 'bind_transmitter') receiver = session
    bound++
  }

  function takeSubmit(session: Session, pdu: PDU): void {
    const submit = toSubmit(session, binds.get(session) ?? null, pdu)
    submits.push(submit)
    if (typeof current === 'function') answerAsTold(session, pdu, current(submit, submits.length))
    else misbehave(session, pdu)
  }

  function answerAsTold(session: Session, pdu: PDU, answer: ReturnType<Answer>): void {
    if (!answer) return
    answer.before?.()
    const fields = { command_status: answer.status ?? 0, message_id: answer.id ?? `id-${submits.length}` }
    if (answer.command) {
      session.send(new smpp.PDU(answer.command, { ...fields, sequence_number: pdu.sequence_number }))
    } else session.send(pdu.response(fields))
  }

  function misbehave(session: Session, pdu: PDU): void {
    switch (current) {
      case 'reject':
        return void session.send(pdu.response({ command_status: RINVDSTADR }))
      case 'throttle':
        return void session.send(pdu.response({ command_status: RTHROTTLED }))
      case 'temporary-failure':
        return void session.send(pdu.response({ command_status: RSYSERR }))
      case 'reset-after-submit':
        return void session.socket.resetAndDestroy()
      case 'garbage':
        return void session.socket.write(Buffer.from('%%% \xff no such thing as SMPP\r\n', 'latin1'))
      case 'half':
        return void session.socket.write(pdu.response({ message_id: 'half' }).toBuffer().subarray(0, 10))
      case 'silent':
        return
    }
    session.send(pdu.response({ message_id: `id-${submits.length}` }))
  }

  const server = current === 'refuse-connection' ? null : smpp.createServer(options.tls ?? {}, serve)
  const port = server ? await listen(server, options.port) : await freePort()

  return {
    port,
    submits,
    bindRequests,
    commands,
    acknowledgements,
    connected: count => signals.until(() => connected >= count),
    bound: count => signals.until(() => bound >= count),
    submitted: count => signals.until(() => submits.length >= count),
    acknowledged: count => signals.until(() => acknowledgements.length >= count),
    commanded: command => signals.until(() => commands.includes(command)),
    idle: () => signals.until(() => sessions.size === 0),
    deliver: fields => void receiver!.send(new smpp.PDU('deliver_sm', fields)),
    write: bytes => void latest!.socket.write(bytes),
    send: (command, fields) => void latest!.send(new smpp.PDU(command, fields ?? {})),
    reset() {
      for (const session of sessions) session.socket.resetAndDestroy()
    },
    behave(next) {
      current = next
    },
    async close() {
      for (const session of sessions) session.socket.destroy()
      if (!server) return
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

function toSubmit(session: Session, boundBy: string | null, pdu: PDU): Submit {
  const short = pdu.short_message as { message: string | Buffer; udh?: Buffer[] }
  return {
    ...pdu,
    text: short.message.toString(),
    udh: short.udh?.[0] ?? null,
    sequence: pdu.sequence_number,
    session,
    boundBy,
  }
}
