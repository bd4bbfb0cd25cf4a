import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeSession } from '../../../src/core/sessions/store.ts'
import type { AccountId } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type ChatappServer, startChatappServer } from '../../support/chatapp-server.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { connectWebSessions, sessionsOf } from '../../support/web-sessions.ts'

/** A deleted session is logged out at the phone by whichever node claims it. */

let server: ChatappServer
let database: TestDatabase
let app: TestApp

beforeEach(async () => {
  server = await startChatappServer()
  database = await createTestDatabase()
  app = await startTestApp({ database })
})
afterEach(async () => {
  await app.stop()
  await database.drop()
  await server.close()
})

async function openSession(): Promise<TestAccount> {
  const account = await app.createAccount()
  await connectWebSessions(app, server.url)
  await sessionsOf(app, account).open('desk')
  return account
}

const logOuts = async () =>
  server.received.filter(node => JSON.stringify(node).includes('remove-companion-device')).length

async function sessionsLeft(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 'removal_sessions_left',
    text: 'select count(*)::integer as n from web_sessions',
  })
  return rows[0]!.n
}

test('a session that no node held when it was deleted is logged out by the next one, although its first line breaks', async () => {
  const account = await openSession()
  await app.stop()
  await removeSession(database.db, account.id as AccountId, true, 'desk')
  server.set({ cutAt: 'login' })
  const lines = server.connections()
  app = await startTestApp({ database })
  await app.during(server.connected(lines + 2))
  server.set({ cutAt: null })
  await app.until(sessionsLeft, n => n === 0)
  expect(await logOuts()).toBe(1)
})
