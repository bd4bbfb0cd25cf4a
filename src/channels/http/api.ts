import type { Io, LinkTest, Outcome } from '../provider.ts'
import { createStateReporter } from '../shared/state-reporter.ts'
import { type Answer, createHttpClient, type Exchange, type HttpRequest } from './client.ts'
import { type Verdict, verdictOfFailure } from './verdict.ts'

/** A provider's HTTP API, as one connection uses it. */
export type HttpApi = {
  /** Submits once; `read` says what the answer means. */
  submit(request: HttpRequest, read: (answer: Answer) => Verdict, signal: AbortSignal): Promise<Outcome>
  /** Makes one request and returns the raw result: for queries, and for submits that call `reportVerdict` themselves. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>
  /** Reports what a submit shows about the link's health; `answered`: the provider has answered at all. */
  reportVerdict(verdict: Verdict, answered: boolean): Outcome
  /** Ends requests in progress; later ones fail at once. */
  close(): Promise<void>
}

/** `name` begins the log lines. */
export function openHttpApi(options: {
  name: string
  origin: URL
  connections: number
  tlsCa?: string | undefined
  /** The longest answer that is read, where lists are asked for. */
  mostAnswerBytes?: number
  io: Io
}): HttpApi {
  const { name, origin, io } = options
  const client = createHttpClient({ ...options, clock: io.clock })
  const report = createStateReporter(io, `${name}: the connection to the provider is down`)
  const closing = new AbortController()
  const inProgress = new Set<Promise<unknown>>()
  warnOfPlainText(name, origin, io)
  report({ state: 'connecting', detail: 'connects with the first message' })

  async function submit(
    request: HttpRequest,
    read: (answer: Answer) => Verdict,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const exchanged = await exchange(request, signal)
    const verdict = exchanged.kind === 'answer' ? read(exchanged.answer) : verdictOfFailure(exchanged)
    return reportVerdict(verdict, exchanged.kind === 'answer')
  }

  function exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange> {
    return client.exchange(request, AbortSignal.any([signal, closing.signal]))
  }

  function reportVerdict(verdict: Verdict, answered: boolean): Outcome {
    if (verdict.down !== undefined) report({ state: 'down', detail: verdict.down })
    else if (answered) report({ state: 'up', detail: 'answers' })
    return verdict.outcome
  }

  function tracked<T>(work: Promise<T>): Promise<T> {
    inProgress.add(work)
    return work.finally(() => inProgress.delete(work))
  }

  return {
    submit: (request, read, signal) => tracked(submit(request, read, signal)),
    exchange: (request, signal) => tracked(exchange(request, signal)),
    reportVerdict,
    async close() {
      closing.abort()
      client.close()
      await Promise.allSettled(inProgress)
    },
  }
}

function warnOfPlainText(name: string, { protocol, hostname }: URL, io: Io): void {
  if (protocol === 'https:' || /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return
  io.log.warn({ host: hostname }, `${name}: credentials and messages are sent unencrypted over http`)
}

/** Logs once that no receipts will come, since no public URL is configured. */
export function warnOfNoReceipts(name: string, io: Io): void {
  if (io.receiptUrl !== null) return
  io.log.warn({}, `${name}: no delivery receipts are requested, since POSTHORN_PUBLIC_URL is not set`)
}

/** The result of the operator's test, from the answer to a query about our own account. */
export function testResultOf(asked: Exchange): LinkTest {
  if (asked.kind !== 'answer') return { ok: false, detail: `The provider was not reached (${asked.code}).` }
  const { status } = asked.answer
  if (status === 200) return { ok: true, detail: 'The provider accepts the credentials.' }
  const refused = status === 401 || status === 403
  const what = refused ? 'The provider refuses the credentials' : 'The provider gave an unexpected answer'
  return { ok: false, detail: `${what} (HTTP ${status}).` }
}
