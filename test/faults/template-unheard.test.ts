import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.ts'

/** The response of the database to a query for an official template is lost; then the request is repeated. */
let database: TestDatabase
let proxy: DatabaseProxy
let app: TestApp
let account: TestAccount

beforeEach(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.url)
  // An abandoned claim expires after a while: the clock of the machine does not run ahead while a response is waited for.
  app = await startTestApp({ database, databaseUrl: proxy.url, clock: systemClock })
  account = await app.createAccount()
})
afterEach(async () => {
  proxy.set('open')
  await app.stop()
  await proxy.close()
  await database.drop()
})

const create = () =>
  app.during(
    app.call('/api/v2/templates', {
      method: 'POST',
      key: account.liveKey,
      body: { name: 'welcome', category: 'chatapp', subType: 'utility', language: 'en', body: 'Welcome!' },
    }),
  )

test('a name whose claim got no response is free for a repeated request', async () => {
  const lost = proxy.loseAt('insert into template_claims', 'after')
  const [unheard] = await Promise.all([create(), lost])
  expect(unheard).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
  expect((await create()).status).toBe(201)
})
