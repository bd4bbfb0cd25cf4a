import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.ts'

/** The store does what it is asked for an official template, and its answer is lost; then the same is asked again. */
let database: TestDatabase
let proxy: DatabaseProxy
let app: TestApp
let account: TestAccount

beforeEach(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.url)
  // A claim that is left lapses in its time: here that does not run ahead while an answer is waited for.
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

test('a name whose claim nobody heard of is free for whoever asks again', async () => {
  const lost = proxy.loseAt('insert into template_claims', 'after')
  const [unheard] = await Promise.all([create(), lost])
  expect(unheard).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
  expect((await create()).status).toBe(201)
})
