import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
let nodes: [TestApp, TestApp]
let account: TestAccount

beforeAll(async () => {
  database = await createTestDatabase()
  const start = () => startTestApp({ database, clock: systemClock })
  nodes = [await start(), await start()]
  account = await nodes[0].createAccount()
}, 60_000)
afterAll(async () => {
  await Promise.all(nodes.map(node => node.stop()))
  await database.drop()
})

const send = (node: TestApp, to: string) =>
  node.call('/api/v2/messages/send', {
    method: 'POST',
    key: account.testKey,
    body: { to, messageType: 'marketing', text: 'Sale' },
  })
const suppress = (node: TestApp, to: string) =>
  node.call('/api/v2/suppressions', { method: 'POST', key: account.testKey, body: { to } })

test('a suppression that one node adds or removes applies on the other at the response', async () => {
  const [one, other] = nodes
  for (let n = 0; n < 20; n++) {
    const to = `+1202555${1000 + n}`
    expect((await send(other, to)).status).toBe(200)
    const made = await suppress(one, to)
    expect(made.status).toBe(201)
    expect((await send(other, to)).body['code']).toBe('RECIPIENT_SUPPRESSED')
    const { suppression } = made.body['data'] as { suppression: { id: string } }
    const path = `/api/v2/suppressions/${suppression.id}`
    expect((await one.call(path, { method: 'DELETE', key: account.testKey })).status).toBe(200)
    expect((await send(other, to)).status).toBe(200)
  }
})

test('concurrent requests for one suppression on two nodes create one', async () => {
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) => suppress(nodes[n % 2]!, '+12025559999')),
  )
  const ids = answers.map(({ body }) => (body['data'] as { suppression: { id: string } }).suppression.id)
  expect(new Set(ids).size).toBe(1)
})
