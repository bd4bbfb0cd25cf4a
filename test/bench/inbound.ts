import { once } from 'node:events'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { event, METADATA, signatureOf, wrote } from '../channels/whatsapp-cloud/calls.ts'
import { whatsAppCloudFixture } from '../channels/whatsapp-cloud.exchange.ts'
import { type Figure, fixed, note, perSecond } from './report.ts'
import { pause, type System, startSystem } from './system.ts'

const A_SECOND = 200
const PEOPLE = 500
/** No server listens there, since nothing is sent. */
const NO_GRAPH = 'http://127.0.0.1:9'
const PATIENCE_MS = 10_000

/**
 * Inbound messages by signed WhatsApp webhooks, one per call, at a steady rate: the time from the call to the
 * arrival of the event at a receiver.
 */
export async function measureInbound(quick: boolean): Promise<Figure[]> {
  note(`Inbound: ${perSecond(A_SECOND)} by signed webhooks, each told to a receiver`)
  const receiver = await startReceiver()
  const system = await startSystem({ accounts: 1, env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  try {
    const teller = await createTeller(system, receiver)
    await teller.run(quick ? 1 : 5)
    const rounds: Told[] = []
    for (let number = 1; number <= (quick ? 1 : 3); number++) {
      rounds.push(await teller.run(quick ? 3 : 10))
      noteTold(rounds.at(-1)!)
    }
    const [middle] = rounds.toSorted((a, b) => at(a, 0.99) - at(b, 0.99)).slice(Math.floor(rounds.length / 2))
    return [figureOf(middle!)]
  } finally {
    await system.stop()
    await receiver.close()
  }
}

/** Times are in ms, ascending; `answersMs` is how long the provider waited for its 200. */
type Told = {
  perSecond: number
  lagsMs: readonly number[]
  answersMs: readonly number[]
  /** CPU per message, in µs. */
  nodeMicros: number
  postgresMicros: number
}

type Receiver = { url: string; arrivals: Map<string, number>; close(): Promise<void> }

/** Records when the event of each message arrived, by the provider's message id. */
async function startReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const atMs = performance.now()
    const { data } = (await json(request)) as { data: { providerMessageId: string } }
    arrivals.set(data.providerMessageId, atMs)
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

type Teller = { run(seconds: number): Promise<Told> }

async function createTeller(system: System, receiver: Receiver): Promise<Teller> {
  const { connection } = await system.admin<{ connection: { id: string } }>('POST', '/connections', {
    provider: 'whatsapp-cloud',
    name: 'Support',
    channels: ['official_chatapp'],
    config: whatsAppCloudFixture.configFor(NO_GRAPH),
    accountId: system.ids.accounts[0],
  })
  const made = await system.call('POST', '/webhooks', { url: receiver.url, events: ['inbound.message'] })
  if (!made.ok) throw new Error(`no endpoint: ${await made.text()}`)
  const agent = new Agent({ keepAlive: true })
  const url = `${system.url}/webhooks/whatsapp-cloud/${connection.id}`
  let nth = 0

  async function tell(id: string): Promise<{ id: string; atMs: number; answerMs: number }> {
    const body = callOf(id, nth)
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(body) }
    const atMs = performance.now()
    const call = httpRequest(url, { method: 'POST', agent, headers }).end(body)
    const [response] = await once(call, 'response')
    response.resume()
    await once(response, 'end')
    if (response.statusCode !== 200) throw new Error(`a call was answered with ${response.statusCode}`)
    return { id, atMs, answerMs: performance.now() - atMs }
  }

  async function run(seconds: number): Promise<Told> {
    const total = seconds * A_SECOND
    const [before, startedMs] = [system.cpu(), performance.now()]
    const calls: ReturnType<typeof tell>[] = []
    while (calls.length < total) {
      const due = Math.min(total, Math.floor(((performance.now() - startedMs) / 1_000) * A_SECOND) + 1)
      while (calls.length < due) calls.push(tell(`wamid.${++nth}`))
      await pause(1)
    }
    const told = await Promise.all(calls)
    const tookMs = performance.now() - startedMs
    await untilArrived(
      receiver,
      told.map(each => each.id),
    )
    const used = system.cpu()
    return {
      perSecond: (total * 1_000) / tookMs,
      nodeMicros: (used.node - before.node) / total / 1_000,
      postgresMicros: (used.postgres - before.postgres) / total / 1_000,
      lagsMs: told.map(({ id, atMs }) => receiver.arrivals.get(id)! - atMs).sort((a, b) => a - b),
      answersMs: told.map(each => each.answerMs).sort((a, b) => a - b),
    }
  }

  return { run }
}

function callOf(id: string, nth: number): string {
  const from = String(49_151_120_000_000 + (nth % PEOPLE))
  const message = { ...wrote({ type: 'text', text: { body: 'Where is my parcel?' } }), id, from }
  const contacts = [{ profile: { name: 'Somebody' }, wa_id: from }]
  const value = { messaging_product: 'whatsapp', metadata: METADATA, contacts, messages: [message] }
  return JSON.stringify(event({ field: 'messages', value }))
}

async function untilArrived({ arrivals }: Receiver, ids: readonly string[]): Promise<void> {
  const giveUpMs = performance.now() + PATIENCE_MS
  while (!ids.every(id => arrivals.has(id))) {
    if (performance.now() > giveUpMs) throw new Error('not every event arrived')
    await pause(20)
  }
}

function at({ lagsMs }: Told, share: number): number {
  return lagsMs[Math.floor(lagsMs.length * share)]!
}

function noteTold(told: Told): void {
  const answered = told.answersMs[Math.floor(told.answersMs.length * 0.99)]!
  note(
    `  ${'told'.padEnd(14)} ${perSecond(told.perSecond).padStart(9)}` +
      `  p50 ${fixed(at(told, 0.5), 1)} ms  p99 ${fixed(at(told, 0.99), 1)} ms  max ${fixed(told.lagsMs.at(-1)!, 0)} ms` +
      `  the provider’s answer p99 ${fixed(answered, 1)} ms` +
      `  CPU a message: Node ${fixed(told.nodeMicros, 0)} µs, PostgreSQL ${fixed(told.postgresMicros, 0)} µs`,
  )
}

function figureOf(told: Told): Figure {
  return {
    name: 'inbound to its event, p99',
    measured: perSecond(told.perSecond),
    baseline: '',
    value: at(told, 0.99),
    unit: ' ms',
    target: { most: 100 },
  }
}
