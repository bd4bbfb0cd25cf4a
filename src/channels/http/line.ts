import type { Io, LinkState, Outcome } from '../provider.ts'
import { type Answer, createHttpClient, type Exchange, type HttpRequest } from './client.ts'
import { type Verdict, verdictOfFailure } from './verdict.ts'

export type Check = { ok: boolean; detail: string }

/** A provider's interface over HTTP, as one connection uses it. */
export type Line = {
  /** Submits once; `read` makes of the answer what it means. */
  submit(request: HttpRequest, read: (answer: Answer) => Verdict, signal: AbortSignal): Promise<Outcome>
  /** One exchange as it went, for those who read the answer by other means, and then `conclude`. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>
  /** Reports what a submit tells of the link; `answered` where the provider spoke at all. */
  conclude(verdict: Verdict, answered: boolean): Outcome
  /** Asks for something that changes nothing; null where no answer came. */
  ask(request: HttpRequest, signal: AbortSignal): Promise<{ answer: Answer | null; code: string }>
  /** Settles what is under way, and everything after it at once. */
  close(): Promise<void>
}

/** `name` stands before what is logged. */
export function openLine(options: {
  name: string
  origin: URL
  connections: number
  tlsCa?: string | undefined
  io: Io
}): Line {
  const { name, origin, io } = options
  const client = createHttpClient({ ...options, clock: io.clock })
  const report = createReport(name, io)
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  warnOfPlainText(name, origin, io)
  report({ state: 'connecting', detail: 'connects with the first message' })

  async function submit(
    request: HttpRequest,
    read: (answer: Answer) => Verdict,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const exchanged = await exchange(request, signal)
    const verdict = exchanged.kind === 'answer' ? read(exchanged.answer) : verdictOfFailure(exchanged)
    return conclude(verdict, exchanged.kind === 'answer')
  }

  function exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange> {
    return client.exchange(request, AbortSignal.any([signal, closing.signal]))
  }

  function conclude(verdict: Verdict, answered: boolean): Outcome {
    if (verdict.down !== undefined) report({ state: 'down', detail: verdict.down })
    else if (answered) report({ state: 'up', detail: 'answers' })
    return verdict.outcome
  }

  async function ask(request: HttpRequest, signal: AbortSignal) {
    const exchanged = await exchange(request, signal)
    if (exchanged.kind === 'answer') return { answer: exchanged.answer, code: '' }
    return { answer: null, code: exchanged.code }
  }

  function tracked<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    return work.finally(() => underWay.delete(work))
  }

  return {
    submit: (request, read, signal) => tracked(submit(request, read, signal)),
    exchange: (request, signal) => tracked(exchange(request, signal)),
    conclude,
    ask: (request, signal) => tracked(ask(request, signal)),
    async close() {
      closing.abort()
      client.close()
      await Promise.allSettled(underWay)
    },
  }
}

/** Passes on what changed, and only that: a link is not news with every message. */
function createReport(name: string, io: Io): (state: LinkState) => void {
  let last = ''
  return state => {
    if (state.state === last) return
    last = state.state
    if (state.state === 'down')
      io.log.warn({ detail: state.detail }, `${name}: the provider is of no use now`)
    io.report(state)
  }
}

function warnOfPlainText(name: string, { protocol, hostname }: URL, io: Io): void {
  if (protocol === 'https:' || /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return
  io.log.warn({ host: hostname }, `${name}: credentials and messages go out in the clear over http`)
}

/** Says once what an operator would otherwise wonder about. */
export function warnOfNoReceipts(name: string, io: Io): void {
  if (io.receiptUrl !== null) return
  io.log.warn({}, `${name}: no delivery receipts are asked for, since POSTHORN_PUBLIC_URL is not set`)
}

/** What an answer to a question about our own account says of the settings. */
export function checkOf({ answer, code }: { answer: Answer | null; code: string }): Check {
  if (answer === null) return { ok: false, detail: `The provider was not reached (${code}).` }
  if (answer.status === 200) return { ok: true, detail: 'The provider takes the credentials.' }
  const refused = answer.status === 401 || answer.status === 403
  const what = refused ? 'The provider refuses the credentials' : 'The provider does not answer as it should'
  return { ok: false, detail: `${what} (HTTP ${answer.status}).` }
}
