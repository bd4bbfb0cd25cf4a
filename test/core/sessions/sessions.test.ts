import { expect, test } from 'vitest'
import { NOT_INSTALLED } from '../../../src/channels/whatsapp-web/library.ts'
import type { Caller } from '../../../src/contract/caller.ts'
import { chooseSession } from '../../../src/core/sessions/choose.ts'
import { createWebSessions } from '../../../src/core/sessions/sessions.ts'
import type { SessionSnapshot } from '../../../src/core/sessions/snapshot.ts'
import type { Database } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { createRandom } from '../../../src/lib/random.ts'

const untouched = new Proxy(
  {},
  {
    get() {
      throw new Error('nothing may be stored')
    },
  },
) as Database

/** Sessions on a node without the library, for an account whose channel a connection carries. */
function withoutLibrary(db: Database) {
  return createWebSessions({
    db,
    clock: systemClock,
    ids: createIds(systemClock, createRandom()),
    phones: createPhones({ cacheSize: 10 }),
    seal: { open: sealed => sealed },
    carriedBy: async () => 'real',
    unavailableReason: () => NOT_INSTALLED,
    paceOf: () => Promise.reject(new Error('there is none')),
    loadQrRenderer: () => Promise.reject(new Error('there is none')),
    changed() {},
  })
}
const caller = { mode: 'live', account: { id: 'acc_00000000000000000000000001' } } as unknown as Caller
const UNAVAILABLE = {
  code: 'SERVICE_UNAVAILABLE',
  status: 503,
  message: expect.stringContaining('npm install baileys@'),
}

test('without the library, creating a session fails with the missing package’s name and stores nothing', async () => {
  await expect(withoutLibrary(untouched).create(caller, { name: 'desk' })).rejects.toMatchObject(UNAVAILABLE)
})

test('without the library, a session of the sandbox is not made a real one', async () => {
  const uuid = '01a00000-0000-7000-8000-000000000001'
  const row = { accountUuid: uuid, uuid, name: 'desk', sandbox: true, changedAt: new Date(0) }
  const db = {
    query: async ({ name }: { name: string }) =>
      name === 'web_session_by_name' ? { rows: [row] } : untouched.query({ name, text: '' }),
  } as unknown as Database
  await expect(withoutLibrary(db).restart(caller, 'desk')).rejects.toMatchObject(UNAVAILABLE)
})

const session = (name: string, state: SessionSnapshot['state'], paired = true): SessionSnapshot => ({
  id: 'cnn_00000000000000000000000001',
  name,
  state,
  sandbox: false,
  paired,
})

test.each([
  ['the named one if it is open', 'b', [session('a', 'open'), session('b', 'open')], 'b'],
  ['the named one while it reconnects', 'a', [session('a', 'connecting')], 'a'],
  [
    'the oldest open one if none is named',
    undefined,
    [session('a', 'closed'), session('b', 'open'), session('c', 'open')],
    'b',
  ],
  [
    'an open one rather than one that reconnects, if none is named',
    undefined,
    [session('a', 'connecting'), session('b', 'open')],
    'b',
  ],
  [
    'one that reconnects if none is named and none is open',
    undefined,
    [session('a', 'qr'), session('b', 'connecting')],
    'b',
  ],
] as const)('the chosen session is %s', (_, name, sessions, chosen) => {
  expect(chooseSession(name, sessions).name).toBe(chosen)
})

test.each([
  ['the named one does not exist', 'z', [session('a', 'open')], 'NOT_FOUND'],
  ['the named one is still being linked', 'a', [session('a', 'connecting', false)], 'SESSION_NOT_OPEN'],
  [
    'the named one is closed, although another is open',
    'a',
    [session('a', 'closed'), session('b', 'open')],
    'SESSION_NOT_OPEN',
  ],
  ['the named one is logged out', 'a', [session('a', 'logged_out')], 'SESSION_NOT_OPEN'],
  ['none is named and none is open', undefined, [session('a', 'pairing_code', false)], 'SESSION_NOT_OPEN'],
  ['none is named and the account has none', undefined, [], 'SESSION_NOT_OPEN'],
] as const)('the choice of a session is rejected when %s', (_, name, sessions, code) => {
  expect(() => chooseSession(name, sessions)).toThrow(expect.objectContaining({ code }))
})
