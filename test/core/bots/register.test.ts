import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Link } from '../../../src/channels/provider.ts'
import { telegramProvider } from '../../../src/channels/telegram.ts'
import type { Caller } from '../../../src/contract/caller.ts'
import { createBots } from '../../../src/core/bots/bots.ts'
import type { Platforms } from '../../../src/core/bots/platforms.ts'
import { findBot } from '../../../src/core/bots/store.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import type { AccountId, BotId, ConnectionId } from '../../../src/lib/ids.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createIo } from '../../channels/conformance.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { type ScriptedTelegram, startScriptedTelegram } from '../../support/scripted-telegram.ts'

/** Registration over a connection to a scripted Bot API. */
const clock = createFakeClock()
const random = createRandom()
const ids = createIds(clock, random)

let database: TestDatabase
let telegram: ScriptedTelegram
let link: Link
/** The connection of all accounts. */
let connectionId: ConnectionId
let isOpen: boolean

beforeAll(async () => {
  database = await createTestDatabase()
  telegram = await startScriptedTelegram()
  link = await telegramProvider.open({ apiRoot: telegram.apiRoot }, createIo())
  connectionId = ids.next('cnn')
  isOpen = true
})
afterAll(async () => {
  await link.close()
  await telegram.close()
  await database.drop()
})

const platforms: Platforms = {
  get: id => (isOpen && id === connectionId ? { provider: 'telegram', bots: link.bots! } : undefined),
  choose: async () => connectionId,
}

function callerOf(accountId: AccountId): Caller {
  return { account: { id: accountId }, mode: 'live' } as Caller
}

async function addAccount(): Promise<Caller> {
  return callerOf(ids.next('acc'))
}

const bots = (reached = platforms, masterKey = Buffer.alloc(32, 7)) =>
  createBots({
    db: database.db,
    clock,
    ids,
    seal: createSeal(masterKey, random),
    platforms: reached,
    updateModes: { setUp: async () => {}, prepareRemoval: async () => async () => {} },
    changed() {},
  })

test('a token that cannot be verified creates no bot', async () => {
  const caller = await addAccount()
  telegram.answer(() => telegram.error(401, 'Unauthorized'))
  await expect(bots().register(caller, { token: '1004:a' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  })
  telegram.answer(() => ({ status: 502, body: '<html>' }))
  await expect(bots().register(caller, { token: '1004:a' })).rejects.toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
  })
  telegram.answer(() => telegram.error(429, 'Too Many Requests', { retry_after: 17 }))
  await expect(bots().register(caller, { token: '1004:a' })).rejects.toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
    retryAfterSeconds: 17,
  })
  telegram.answer(null)
  expect((await bots().list(caller, {})).data).toEqual([])
})

test('the name of a bot is cleaned and truncated, and a bot without a name is rejected', async () => {
  const caller = await addAccount()
  const named = (id: number, more: object) => () => telegram.ok({ id, is_bot: true, ...more })
  telegram.answer(named(1010, { first_name: `a\0b\ud800${'n'.repeat(300)}`, username: 5 }))
  const bot = await bots().register(caller, { token: '1010:a' })
  expect(bot).toMatchObject({ username: null, name: `ab\ufffd${'n'.repeat(252)}` })
  telegram.answer(named(1011, {}))
  await expect(bots().register(caller, { token: '1011:a' })).rejects.toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
  })
  telegram.answer(null)
})

test('when two accounts register the same bot at once, one of them gets CONFLICT', async () => {
  const callers = await Promise.all([addAccount(), addAccount()])
  const results = await Promise.allSettled(
    callers.map(caller => bots().register(caller, { token: '1005:a' })),
  )
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const refused = results.find(result => result.status === 'rejected')
  expect(refused).toMatchObject({ reason: { code: 'CONFLICT' } })
})

test('registering a bot again after its connection is gone keeps its id and uses another connection', async () => {
  const caller = await addAccount()
  const before = await bots().register(caller, { token: '1006:a' })
  await expect(bots().register(caller, { token: '1006:a' })).rejects.toMatchObject({ code: 'CONFLICT' })
  isOpen = false
  await expect(bots().register(caller, { token: '1006:a' })).rejects.toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
  })
  connectionId = ids.next('cnn')
  isOpen = true
  const after = await bots().register(caller, { token: '1006:a' })
  expect(after.id).toBe(before.id)
  expect(await findBot(database.db, after.id as BotId)).toMatchObject({ connectionId })
})

test('registering a bot again whose stored token cannot be decrypted keeps its id', async () => {
  const caller = await addAccount()
  const before = await bots().register(caller, { token: '1007:a' })
  const renewed = () => bots(platforms, Buffer.alloc(32, 8))
  expect((await renewed().register(caller, { token: '1007:a' })).id).toBe(before.id)
  await expect(renewed().register(caller, { token: '1007:a' })).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('a test key cannot register more than 200 sandbox bots in an account', async () => {
  const { account } = await addAccount()
  const register = (token: string) =>
    bots({ ...platforms, choose: async () => 'sandbox' }).register({ account, mode: 'test' } as Caller, {
      token,
    })
  await database.db.query({
    name: 'many_sandbox_bots',
    text: `insert into bots (account_id, id, sandbox, platform_id, name, state)
             select $1, gen_random_uuid(), true, 'many' || n, 'Sandbox bot', 'active' from generate_series(1, 199) n`,
    values: [toUuid(account.id)],
  })
  expect(await register('1:a')).toMatchObject({ sandbox: true })
  await expect(register('2:a')).rejects.toMatchObject({ code: 'CONFLICT' })
})
