import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeCursor } from '../../../src/contract/cursor.ts'
import type {
  AdminPolicy,
  NodesView,
  ProviderView,
  QueuesView,
  UnknownMessage,
} from '../../../src/contract/operations.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { openBrowser } from '../../support/console.ts'

const HOUR_MS = 3_600_000

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ plan: { allowsScheduling: true } })
})
afterAll(() => app.stop())

async function read<T>(path: string): Promise<T> {
  const answer = await app.admin('GET', path)
  expect(answer.status, answer.text).toBe(200)
  return answer.body['data'] as T
}

describe('the operations endpoints of the operator', () => {
  test('/nodes lists the nodes and the provider links of the current node', async () => {
    const { nodes, links } = await read<NodesView>('/nodes')
    expect(nodes).toEqual([
      expect.objectContaining({ alive: true, current: true, holds: 0, lanes: [], host: expect.any(String) }),
    ])
    expect(links).toMatchObject([
      { provider: 'sandbox', circuit: 'closed', inFlight: 0, waiting: 0, resting: false },
    ])
  })

  test('/queues shows due and scheduled messages and the lag of each connection', async () => {
    const sandbox = (await read<AdminPolicy[]>('/policies'))[0]!.connectionId
    const before = (await read<QueuesView>('/queues')).connections
    expect(before).toMatchObject([
      { connectionId: sandbox, provider: 'sandbox', due: 0, scheduled: 0, lagMs: 0 },
    ])
    const scheduleAt = new Date(app.now() + HOUR_MS).toISOString()
    await account.send({ to: '+12025550123', text: 'Later', options: { scheduleAt } }, { live: true })
    const disabled = await app.admin('POST', '/connections', {
      provider: 'smpp',
      name: 'Off',
      channels: ['local_sms'],
      config: { host: '127.0.0.1', port: 1, systemId: 'x', password: 'y' },
      enabled: false,
    })
    const { id } = (disabled.body['data'] as { connection: { id: string } }).connection
    const { connections, ...others } = await read<QueuesView>('/queues')
    expect(connections.find(({ connectionId }) => connectionId === sandbox)).toMatchObject({
      scheduled: 1,
      lagMs: 0,
    })
    expect(connections.find(({ connectionId }) => connectionId === id)).toMatchObject({ name: 'Off', due: 0 })
    expect(others).toEqual({
      deliveries: { waiting: 0 },
      bulk: { running: 0, queued: 0, paused: 0, validating: 0 },
      parkedReceipts: 0,
    })
    // The message stays queued while its connection is disabled.
    await app.admin('PATCH', `/connections/${sandbox}`, { enabled: false })
    await app.db.query({
      name: 'due',
      text: `update outbox set due_at = to_timestamp($1 / 1000.0), connection_id = (select id from connections where name = 'Off')`,
      values: [app.now() - 90_000],
    })
    const late = (await read<QueuesView>('/queues')).connections
    expect(late.find(({ connectionId }) => connectionId === id)).toMatchObject({
      due: 1,
      scheduled: 0,
      lagMs: 90_000,
    })
    await app.admin('PATCH', `/connections/${sandbox}`, { enabled: true })
    await app.admin('DELETE', `/connections/${id}`)
    expect(
      (await read<QueuesView>('/queues')).connections.find(({ connectionId }) => connectionId === id),
    ).toMatchObject({ name: null, due: 1 })
  })

  test('/unknown pages through messages of unknown outcome and rejects forged cursors', async () => {
    const ids: string[] = []
    for (let at = 0; at < 3; at++) {
      ids.push(
        messageIdOf(await app.during(account.send({ to: '+12025550005', text: `Hi ${at}` }, { live: true }))),
      )
    }
    const all = await app.until(
      () => read<UnknownMessage[]>('/unknown'),
      rows => rows.length === ids.length,
    )
    expect(all.map(({ messageId }) => messageId)).toEqual(ids)
    expect(all[0]).toMatchObject({
      accountId: account.id,
      accountName: 'Acme',
      channel: 'local_sms',
      to: '+12025550005',
      provider: 'sandbox',
      attempt: 1,
      currency: 'USD',
    })
    expect(Date.parse(all[0]!.closesAt) - Date.parse(all[0]!.unknownAt)).toBe(24 * HOUR_MS)
    const paged: string[] = []
    let cursor: unknown = null
    do {
      const page = await app.admin('GET', `/unknown?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`)
      paged.push(...(page.body['data'] as UnknownMessage[]).map(({ messageId }) => messageId))
      cursor = page.body['nextCursor']
    } while (cursor !== null)
    expect(paged).toEqual(ids)
    for (const forged of ['x', writeCursor('999999999999999', ids[0]!)])
      expect((await app.admin('GET', `/unknown?cursor=${forged}`)).status).toBe(400)
  })

  test('/policies lists every policy in priority order', async () => {
    const policies = await read<AdminPolicy[]>('/policies')
    expect(policies.map(({ priorityOrder }) => priorityOrder)).toEqual(
      policies.map(({ priorityOrder }) => priorityOrder).sort((left, right) => left - right),
    )
    expect(policies.at(-1)).toMatchObject({
      providerKey: 'sandbox',
      connectionName: 'Sandbox',
      accountId: null,
    })
    expect(policies.map(({ channel }) => channel)).toContain('email_user')
  })

  test('/policies lists the policies of an account in the order in which the account has them', async () => {
    const config = { host: '127.0.0.1', port: 1, systemId: 'x', password: 'y' }
    const given = { provider: 'smpp', channels: ['int_sms'], priorityOrder: 7, enabled: false, config }
    // The platform's is the older one, and is tried after the account's own.
    for (const [name, owner] of [
      ['Shared', {}],
      ['Own', { accountId: account.id }],
    ] as const) {
      const made = await app.admin('POST', '/connections', { ...given, ...owner, name })
      expect(made.status, made.text).toBe(201)
    }
    const all = await read<AdminPolicy[]>('/policies')
    const seven = all.filter(({ priorityOrder }) => priorityOrder === 7)
    expect(seven.map(({ connectionName }) => connectionName)).toEqual(['Own', 'Shared'])
    const own = await app.call('/api/v2/messages/policies', { key: account.liveKey })
    expect(all.map(({ connectionId: _, connectionName: __, accountId: ___, ...policy }) => policy)).toEqual(
      own.body['data'],
    )
  })

  test('/providers lists the providers with the JSON schema of their configuration', async () => {
    const providers = await read<ProviderView[]>('/providers')
    const smpp = providers.find(({ key }) => key === 'smpp')!
    expect(smpp).toMatchObject({ channels: ['local_sms', 'int_sms'], secrets: ['password'] })
    expect(smpp.config).toMatchObject({
      type: 'object',
      properties: { host: { type: 'string' }, port: { type: 'integer' } },
      required: expect.arrayContaining(['host']),
    })
    expect(providers.map(({ key }) => key)).toEqual(
      expect.arrayContaining([
        'smtp',
        'twilio',
        'vonage',
        'infobip',
        'http-sms',
        'whatsapp-cloud',
        'sandbox',
      ]),
    )
  })

  test('return 401 for an API key and for a browser without a session', async () => {
    for (const path of ['nodes', 'queues', 'unknown', 'policies', 'providers', 'audit', 'members']) {
      expect((await app.call(`/api/admin/${path}`, { key: account.liveKey })).status, path).toBe(401)
      expect((await openBrowser(app).call('GET', `/api/admin/${path}`)).status, path).toBe(401)
    }
  })
})
