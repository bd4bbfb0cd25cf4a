import { afterAll, beforeAll, expect, test } from 'vitest'
import { graphError, whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createBulk, sentTimes, untilBulk } from '../../support/bulk.ts'
import { type Gateway, startChatGateway } from '../../support/gateways.ts'
import { mostInASecond } from '../../support/most-in-a-second.ts'

/** Many rows of one job to one WhatsApp number, which allows a burst of 45, and then one every six seconds. */

const ONE = '+12025552001'
const BURST = 45
const EVERY_MS = 6_000
let app: TestApp
let account: TestAccount
let gateway: Gateway

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ balance: 100 })
  gateway = await startChatGateway(app)
})
afterAll(async () => {
  await app.stop()
  await gateway.close()
})

type Submit = { to: string; text: string; atMs: number; taken: boolean }

/** Records all further submits; rejects those with these ordinals, from 1, with the pair rate limit. */
function recordSubmits(tooEarly: readonly number[] = []): Submit[] {
  const asked: Submit[] = []
  gateway.act(nth => {
    const { to, text } = JSON.parse(gateway.peer.requests.at(-1)!.body) as {
      to: string
      text: { body: string }
    }
    const taken = !tooEarly.includes(nth)
    asked.push({ to: `+${to.replace('+', '')}`, text: text.body, atMs: app.now(), taken })
    return taken ? whatsAppCloudFixture.taken(200_000 + nth) : graphError(400, 131056)
  })
  return asked
}

const rowsTo = (to: string, count: number, name: string) =>
  Array.from({ length: count }, (_, at) => ({
    to,
    channel: 'official_chatapp',
    content: { text: `${name} ${at}` },
  }))

async function run(messages: object[]): Promise<string> {
  const { status, text, body } = await createBulk(
    app,
    account,
    { messagesPerSecond: 10, messages },
    { live: true },
  )
  if (status !== 202) throw new Error(text)
  const id = body['id'] as string
  const job = await untilBulk(app, account, id, 'completed', 'rejected', 'paused')
  expect(job).toMatchObject({
    status: 'completed',
    counts: { pending: 0, sent: messages.length, failed: 0, cancelled: 0 },
  })
  return id
}

const textsOf = (rows: readonly { content: { text: string } }[]) => rows.map(row => row.content.text).sort()

test('bulk rows to one WhatsApp number are paced by its pair rate, and do not delay other recipients', async () => {
  const asked = recordSubmits()
  const rows = [...rowsTo(ONE, BURST + 3, 'one'), ...rowsTo('+12025552002', 5, 'two')]
  const id = await run(rows)
  expect(asked.map(each => each.text).sort()).toEqual(textsOf(rows))
  const one = asked.filter(each => each.to === ONE).map(each => each.atMs)
  const two = asked.filter(each => each.to !== ONE).map(each => each.atMs)
  const late = one.slice(BURST)
  expect(late[0]! - one[0]!).toBeGreaterThan(EVERY_MS / 2)
  // The test clock advances while a request is in flight.
  late.slice(1).forEach((atMs, at) => {
    expect(atMs - late[at]!).toBeGreaterThan(EVERY_MS / 2)
  })
  expect(two.at(-1)!).toBeLessThan(late[1]!)
  expect(mostInASecond(await sentTimes(app, id))).toBe(10)
})

test('bulk rows rejected by the pair rate limit wait while the job continues, and each is sent once', async () => {
  const asked = recordSubmits([2, 5])
  const rows = [...rowsTo('+12025552003', 4, 'three'), ...rowsTo('+12025552004', 4, 'four')]
  await run(rows)
  expect(
    asked
      .filter(each => each.taken)
      .map(each => each.text)
      .sort(),
  ).toEqual(textsOf(rows))
  const refused = asked.filter(each => !each.taken)
  expect(refused).toHaveLength(2)
  for (const { to, atMs } of refused) {
    // A wait of about one second (4^0), as WhatsApp recommends.
    const next = asked.find(each => each.to === to && each.taken && each.atMs > atMs)
    expect(next!.atMs - atMs).toBeGreaterThan(500)
  }
})
