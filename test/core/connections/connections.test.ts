import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConnectionCreate } from '../../../src/contract/admin.ts'
import { PLATFORM } from '../../../src/core/accounts/platform.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { type AccountId, type ConnectionId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { BASIC_ACCOUNT, openRooms, type Rooms } from '../../support/rooms.ts'

let database: TestDatabase
let rooms: Rooms
let other: Rooms
const tested: string[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  rooms = await openRooms(database.db, {
    testLink: async id => {
      tested.push(id)
      return { ok: false, detail: 'connection refused' }
    },
  })
  other = await openRooms(database.db)
})
afterAll(async () => {
  await rooms.stop()
  await other.stop()
  await database.drop()
})

const smtp = (change: Partial<ConnectionCreate> = {}): ConnectionCreate => ({
  provider: 'smtp',
  name: 'Mail',
  channels: ['email_user'],
  config: { host: 'mail.example.com', user: 'posthorn', password: 'Sw0rdfish!', from: 'a@example.com' },
  ...change,
})

async function newAccount(): Promise<AccountId> {
  return (await rooms.accountAdmin.create(BASIC_ACCOUNT)).account.id as AccountId
}

async function storedText(): Promise<string> {
  const { rows } = await database.db.query<{ row: string }>({
    name: 'connections_as_text',
    text: `select c::text || convert_from(coalesce(secrets, ''), 'UTF8') as row from connections c`,
  })
  return rows.map(({ row }) => row).join('\n')
}

describe('a connection', () => {
  test('is created, changed and removed although this node cannot read its links anew', async () => {
    const away = await openRooms(database.db, { applied: () => Promise.reject(new Error('away')) })
    const { id } = await away.connectionAdmin.create(smtp())
    expect(await away.connectionAdmin.update(id, { name: 'Post' })).toMatchObject({ name: 'Post' })
    expect(await away.connectionAdmin.remove(id)).toMatchObject({ deleted: true })
    expect(away.log).toContain('a change of a connection is not in use on this node yet')
    await away.stop()
  })

  test('stores its secrets sealed, returns only which are set, and opens them only for its link', async () => {
    const created = await rooms.connectionAdmin.create(smtp())
    expect(created).toMatchObject({
      accountId: null,
      provider: 'smtp',
      config: { host: 'mail.example.com', user: 'posthorn', from: 'a@example.com' },
      secretsSet: ['password'],
      enabled: true,
      priorityOrder: 100,
      retryPolicy: { maxAttempts: 14, backoffMs: 5_000 },
    })
    expect(JSON.stringify(created)).not.toContain('Sw0rdfish')
    expect(JSON.stringify(await rooms.connectionAdmin.list({}))).not.toContain('Sw0rdfish')
    expect(await storedText()).not.toContain('Sw0rdfish')
    const opened = await rooms.connectionAdmin.openConfig(created.id as ConnectionId)
    expect(opened).toMatchObject({
      provider: 'smtp',
      revision: 1,
      config: { password: 'Sw0rdfish!', host: 'mail.example.com', maxConnections: expect.any(Number) },
    })
    expect(await rooms.connectionAdmin.openConfig(rooms.ids.next('cnn'))).toBeNull()
  })

  test('is updated field by field: absent fields stay, null clears, and the revision rises', async () => {
    const { id } = await rooms.connectionAdmin.create(smtp())
    const renamed = await rooms.connectionAdmin.update(id, { name: 'Renamed', enabled: false })
    expect(renamed).toMatchObject({ name: 'Renamed', enabled: false, secretsSet: ['password'] })
    await rooms.connectionAdmin.update(id, {
      config: { host: 'other.example.com' },
      retryPolicy: { maxAttempts: 9 },
    })
    expect(await rooms.connectionAdmin.openConfig(id as ConnectionId)).toMatchObject({
      revision: 3,
      config: { host: 'other.example.com', password: 'Sw0rdfish!', from: 'a@example.com' },
    })
    const cleared = await rooms.connectionAdmin.update(id, { config: { password: null, user: null } })
    expect(cleared.secretsSet).toEqual([])
    expect(cleared.config).toEqual({ host: 'other.example.com', from: 'a@example.com' })
    expect(cleared.retryPolicy).toEqual({ maxAttempts: 9, backoffMs: 5_000 })
  })

  test.each<[string, Partial<ConnectionCreate>, string[]]>([
    ['an unknown provider', { provider: 'pigeon' }, ['provider']],
    ['a channel that its provider does not carry', { channels: ['email_user', 'int_sms'] }, ['channels[1]']],
    ['a missing field', { config: { host: 'h' } }, ['config.from']],
    ['two sender addresses', { config: { host: 'h', from: 'a@x.example,b@x.example' } }, ['config.from']],
    [
      'a sender with an invalid domain',
      { config: { host: 'h', from: 'Acme <a@b_c.example>' } },
      ['config.from'],
    ],
    [
      'a field of the wrong type',
      { config: { host: 'h', from: 'a@example.com', port: 'x' } },
      ['config.port'],
    ],
    ['no configuration', { config: undefined as never }, ['config.host', 'config.from']],
  ])('with %s is rejected with the path of the field', async (_, change, paths) => {
    const { provider, name, channels, config } = smtp(change)
    const input = config === undefined ? { provider, name, channels } : { provider, name, channels, config }
    const refused = await rooms.connectionAdmin.create(input).catch(error => error)
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR' })
    expect(refused.details.map(({ path }: { path: string }) => path)).toEqual(expect.arrayContaining(paths))
  })

  test('drops fields unknown to its provider, so that a misspelt secret is never stored', async () => {
    const created = await rooms.connectionAdmin.create(
      smtp({ config: { host: 'h', from: 'a@example.com', pasword: 'Sw0rdfish!' } }),
    )
    expect(created.config).toEqual({ host: 'h', from: 'a@example.com' })
    expect(await storedText()).not.toContain('pasword')
  })

  test('whose secret cannot be decrypted can only be updated with a new secret', async () => {
    const { id } = await rooms.connectionAdmin.create(smtp())
    const lost = createSeal(Buffer.alloc(32, 1), createRandom()).seal('"x"', `connection:${id}:password`)
    await database.db.query({
      name: 'connections_lose',
      text: 'update connections set secrets = $2 where id = $1',
      values: [
        toUuid(id as ConnectionId),
        Buffer.from(JSON.stringify({ password: lost.toString('base64') })),
      ],
    })
    const { update, openConfig } = rooms.connectionAdmin
    await expect(update(id, { config: { host: 'other.example.com' } })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'config.password' }],
    })
    await update(id, { config: { password: 'another' } })
    expect(await openConfig(id as ConnectionId)).toMatchObject({ config: { password: 'another' } })
  })

  test('cannot be created for an account that does not exist', async () => {
    await expect(
      rooms.connectionAdmin.create(smtp({ accountId: rooms.ids.next('acc') })),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test('is tested through its link, and a test of an unknown connection is NOT_FOUND', async () => {
    const { id } = await rooms.connectionAdmin.create(smtp())
    expect(await rooms.connectionAdmin.test(id)).toEqual({ ok: false, detail: 'connection refused' })
    expect(tested).toEqual([id])
    await expect(rooms.connectionAdmin.test(rooms.ids.next('cnn'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test('is NOT_FOUND for updates and removals after it was removed', async () => {
    const { id } = await rooms.connectionAdmin.create(smtp())
    expect(await rooms.connectionAdmin.remove(id)).toEqual({ id, accountId: null, deleted: true })
    await expect(rooms.connectionAdmin.remove(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(rooms.connectionAdmin.update(id, {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('the connections of an account', () => {
  test('are its own and the platform’s, by priority, its own first', async () => {
    const [account, stranger] = [await newAccount(), await newAccount()]
    for (const { id } of (await rooms.connectionAdmin.list({ limit: 500 })).data)
      await rooms.connectionAdmin.remove(id)
    await rooms.connectionAdmin.create(smtp({ name: 'platform 100' }))
    await rooms.connectionAdmin.create(smtp({ name: 'own 100', accountId: account }))
    await rooms.connectionAdmin.create(smtp({ name: 'platform 1', priorityOrder: 1, enabled: false }))
    await rooms.connectionAdmin.create(smtp({ name: 'stranger', accountId: stranger, priorityOrder: 0 }))
    const found = await rooms.connections.forAccount(account)
    expect(found.map(({ name }) => name)).toEqual(['platform 1', 'own 100', 'platform 100'])
    expect(found[0]).toMatchObject({ accountId: PLATFORM, enabled: false, retryPolicy: { maxAttempts: 14 } })
    expect(JSON.stringify(found)).not.toContain('secrets')
    await rooms.caughtUp()
    const again = await rooms.connections.forAccount(account)
    expect(rooms.connections.forAccount(account)).toBe(again)
  })

  test('change on every node and for every account when a platform connection is updated', async () => {
    const [one, two] = [await newAccount(), await newAccount()]
    const { id } = await rooms.connectionAdmin.create(smtp({ name: 'Shared' }))
    await other.caughtUp()
    const enabledFor = async (account: AccountId) =>
      (await other.connections.forAccount(account)).find(each => each.id === id)?.enabled
    expect([await enabledFor(one), await enabledFor(two)]).toEqual([true, true])
    await rooms.connectionAdmin.update(id, { enabled: false })
    await other.caughtUp()
    expect([await enabledFor(one), await enabledFor(two)]).toEqual([false, false])
  })
})
