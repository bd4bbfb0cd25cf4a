import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/**
 * Sends messages over HTTP as fast as they are answered: raw sockets that are kept alive, one request at a
 * time on each. A program of its own, so that its CPU time is not counted as that of the server. Prints `{}`
 * when it is ready; then takes plans as lines of JSON on standard input, and prints the result of each as a
 * line of JSON:
 *
 *     node test/bench/load.ts
 */
export type LoadPlan = {
  port: number
  /** API keys; requests take them in turn. */
  keys: readonly string[]
  connections: number
  /** The run ends after so many requests or seconds. */
  requests: number
  seconds: number
  /** Recipients per request: 1 is a single send, more are a batch. */
  recipients?: number
  /** Uses this template instead of a text, with the same resulting text. */
  template?: string
  /** Sends verification codes instead of messages; or checks these verifications. */
  verification?: 'send' | { ids: readonly string[]; code: string }
  /** Number of different phones; 10,000 by default. */
  phones?: number
  /** The number of the first request, from which phones and keys follow: no idempotency key is used twice. */
  offset: number
}

export type LoadResult = {
  /** The number of responses by status. */
  answers: Record<string, number>
  /** The first response that is not a 200, with its headers. */
  firstFailure: string | null
  /** From opening the first connection to the end of the last one. */
  seconds: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** The first of a million valid German mobile numbers. */
const FIRST_RECIPIENT = 15_112_000_000
/** One part in GSM-7. */
export const TEXT =
  'Your parcel 4711-0815 arrives today between 14:00 and 16:00. Not at home? Tell us: example.com/p'
/** The same text as a template, with its variables. */
export const TEMPLATE = {
  content: 'Your parcel {{1}} arrives today between {{2}} and {{3}}. Not at home? Tell us: example.com/p',
  values: ['4711-0815', '14:00', '16:00'],
}
/** Extra time for outstanding responses. */
const PATIENCE_MS = 20_000

function run(plan: LoadPlan): Promise<LoadResult> {
  const answers: Record<string, number> = {}
  const latencies: number[] = []
  let firstFailure: string | null = null
  let begun = 0
  const startedMs = performance.now()
  const untilMs = startedMs + plan.seconds * 1_000

  function next(): string | null {
    if (begun >= plan.requests || performance.now() >= untilMs) return null
    const number = begun++
    return request(plan.keys[number % plan.keys.length]!, plan.offset + number, plan)
  }

  function note(answer: string, latencyMs: number): void {
    const status = answer.slice(9, 12)
    answers[status] = (answers[status] ?? 0) + 1
    latencies.push(latencyMs)
    if (status !== '200') firstFailure ??= answer
  }

  return new Promise((resolve, reject) => {
    let open = plan.connections
    const patience = setTimeout(
      () => end(new Error('answers are missing')),
      plan.seconds * 1_000 + PATIENCE_MS,
    )
    const sockets = Array.from({ length: plan.connections }, () => talk(plan.port, next, note, close))

    function close(error?: Error): void {
      if (error || --open === 0) end(error)
    }

    function end(error?: Error): void {
      clearTimeout(patience)
      for (const socket of sockets) socket.destroy()
      if (error) reject(error)
      else resolve({ answers, firstFailure, ...summarize(latencies, performance.now() - startedMs) })
    }
  })
}

/** One connection: a request, its whole answer, the next request. */
function talk(
  port: number,
  next: () => string | null,
  note: (answer: string, latencyMs: number) => void,
  close: (error?: Error) => void,
): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let sentMs: number | null = null
  let held = ''

  function send(): void {
    const text = next()
    if (text === null) return void socket.end()
    sentMs = performance.now()
    socket.write(text, 'latin1')
  }

  socket.setEncoding('latin1')
  socket.on('connect', send)
  socket.on('data', (chunk: string) => {
    held += chunk
    const end = endOf(held)
    if (end === null || held.length < end || sentMs === null) return
    note(held.slice(0, end), performance.now() - sentMs)
    held = held.slice(end)
    sentMs = null
    send()
  })
  socket.on('error', close)
  socket.on('end', () => {
    if (sentMs !== null) close(new Error('the server closed a connection in the middle of a request'))
  })
  socket.on('close', () => close())
  return socket
}

/** The length of the whole answer; null while its head is not complete. */
function endOf(answer: string): number | null {
  const head = answer.indexOf('\r\n\r\n')
  if (head < 0) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1]
  return head + 4 + Number(length ?? 0)
}

function request(apiKey: string, number: number, plan: LoadPlan): string {
  const { template, recipients = 1, verification, phones: among = 10_000 } = plan
  const phone = (at: number) => `"+49${FIRST_RECIPIENT + (at % among)}"`
  if (verification === 'send') {
    const code = `{"to":${phone(number)},"channel":"local_sms"}`
    return post('verification/send', apiKey, `Idempotency-Key: ${scatter(number)}\r\n`, code)
  }
  if (verification) {
    const id = verification.ids[number - plan.offset]!
    return post('verification/verify', apiKey, '', `{"verificationId":"${id}","code":"${verification.code}"}`)
  }
  const phones = Array.from({ length: recipients }, (_, at) => phone(number * recipients + at))
  const to = recipients === 1 ? phones[0] : `[${phones}]`
  const words =
    template === undefined
      ? `"content":{"text":"${TEXT}"}`
      : `"template":{"id":"${template}","variablesIndexed":${JSON.stringify(TEMPLATE.values)}}`
  const body = `{"to":${to},"channel":"local_sms","messageType":"utility",${words}}`
  return post('messages/send', apiKey, `Idempotency-Key: ${scatter(number)}\r\n`, body)
}

function post(path: string, apiKey: string, headers: string, body: string): string {
  return (
    `POST /api/v2/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${apiKey}\r\n` +
    `${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

/**
 * An idempotency key that is as random to an index as real ones, and unique per number: multiplying by an odd
 * factor has no collisions.
 */
function scatter(number: number): string {
  const high = Math.imul(number, 0x9e3779b1) >>> 0
  const low = Math.imul(number, 0x85ebca6b) >>> 0
  return `${hex(high)}-4b1d-4c2e-9f00-${hex(low)}${hex(number).slice(4)}`
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0')
}

function summarize(latencies: number[], tookMs: number) {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { seconds: tookMs / 1_000, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}

if (import.meta.main) {
  console.log('{}')
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await run(JSON.parse(line) as LoadPlan)))
  }
}
