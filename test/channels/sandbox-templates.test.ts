import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Link, OfficialTemplate } from '../../src/channels/provider.ts'
import { readInbox } from '../../src/core/sandbox/messages-store.ts'
import { createDatabase } from '../../src/infra/db.ts'
import type { AccountId } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createSandboxBench, type SandboxBench } from '../support/sandbox.ts'

let database: TestDatabase
let bench: SandboxBench
let links: Link[]
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => {
  bench = createSandboxBench(database.db)
  links = []
})
afterEach(async () => {
  await Promise.all(links.map(link => link.close()))
})

async function open(io?: Parameters<SandboxBench['open']>[0]): Promise<Link> {
  const link = await bench.open(io)
  links.push(link)
  return link
}

const never = new AbortController().signal
const NAMED = { name: 'order_update', language: 'en', providerTemplateId: null }

const template = (name: string, language = 'en'): OfficialTemplate => ({
  name,
  language,
  subType: 'utility',
  header: null,
  body: 'Hi {{1}}',
  examples: ['Ada'],
  footer: null,
  buttons: [],
  otp: null,
})

async function submit(link: Link, name: string, language?: string): Promise<string> {
  const outcome = await link.submitTemplate!(template(name, language), never)
  if (outcome.kind !== 'submitted') throw new Error(`not submitted: ${outcome.kind}`)
  expect(outcome.state).toMatchObject({ name, status: 'pending', reason: null })
  return outcome.state.providerTemplateId
}

describe('a template in the sandbox', () => {
  test('is pending, and approved after one second, in an event and when it is read', async () => {
    const link = await open()
    const id = await submit(link, 'order_update')
    await bench.pass(999)
    expect(await link.readTemplate!('order_update', 'en', never)).toMatchObject({ status: 'pending' })
    expect(bench.verdicts).toEqual([])
    await bench.pass(1)
    const state = {
      providerTemplateId: id,
      name: 'order_update',
      language: 'en',
      status: 'approved',
      reason: null,
    }
    expect(await link.readTemplate!('order_update', 'en', never)).toEqual(state)
    expect(bench.verdicts).toEqual([{ kind: 'template', eventId: id, state }])
    await bench.pass(20_000)
    expect(bench.verdicts).toHaveLength(1)
  })

  test('whose name contains reject is rejected, with a reason', async () => {
    const link = await open()
    await submit(link, 'please_reject_me')
    await bench.pass(1_000)
    expect(bench.verdicts).toMatchObject([
      { state: { status: 'rejected', reason: expect.stringContaining('reject') } },
    ])
  })

  test('whose name contains timeout is unavailable and not stored', async () => {
    const link = await open()
    const outcome = await link.submitTemplate!(template('a_timeout_here'), never)
    expect(outcome).toMatchObject({ kind: 'unavailable' })
    expect(await link.readTemplate!('a_timeout_here', 'en', never)).toBeNull()
  })

  test('is approved and reported by another node after the first one was closed', async () => {
    const first = await bench.open()
    await submit(first, 'order_update')
    await first.close()
    const second = await open()
    await bench.pass(4_000)
    expect(await second.readTemplate!('order_update', 'en', never)).toMatchObject({ status: 'approved' })
    await bench.pass(1_000)
    expect(bench.verdicts).toHaveLength(1)
  })

  test('is reported once by two nodes after the event could not be stored at first', async () => {
    let fails = true
    const failing = await open({
      emit: async () => {
        if (!fails) throw new Error('unexpected')
        fails = false
        throw new Error('the store is gone')
      },
    })
    await submit(failing, 'order_update')
    await bench.pass(1_000)
    await failing.close()
    await open()
    await open()
    await bench.pass(11_000)
    expect(bench.verdicts).toHaveLength(1)
  })

  test('is identified by name and language, and neither read nor reported after it was deleted', async () => {
    const link = await open()
    await submit(link, 'order_update', 'en')
    await submit(link, 'order_update', 'de')
    await link.deleteTemplate!(NAMED, never)
    await link.deleteTemplate!(NAMED, never)
    await bench.pass(1_000)
    expect(await link.readTemplate!('order_update', 'en', never)).toBeNull()
    expect(await link.readTemplate!('order_update', 'de', never)).toMatchObject({ status: 'approved' })
    expect(bench.verdicts).toMatchObject([{ state: { language: 'de' } }])
  })

  test('submitted twice under one name stays approved after one deletion', async () => {
    const link = await open()
    await submit(link, 'order_update')
    await bench.pass(1_000)
    await submit(link, 'order_update')
    expect(await link.readTemplate!('order_update', 'en', never)).toMatchObject({ status: 'approved' })
    await bench.pass(1_000)
    expect(bench.verdicts).toHaveLength(2)
    await link.deleteTemplate!(NAMED, never)
    expect(await link.readTemplate!('order_update', 'en', never)).toMatchObject({ status: 'approved' })
  })

  test('submitted under the name of another one stays approved although the deletion of that one is repeated', async () => {
    const link = await open()
    const providerTemplateId = await submit(link, 'order_update')
    await submit(link, 'order_update')
    await bench.pass(1_000)
    for (let repeat = 0; repeat < 3; repeat++)
      await link.deleteTemplate!({ ...NAMED, providerTemplateId }, never)
    expect(await link.readTemplate!('order_update', 'en', never)).toMatchObject({ status: 'approved' })
  })

  test('submitted twice under one name is decided although one of the two is deleted meanwhile', async () => {
    const link = await open()
    await submit(link, 'order_update')
    await bench.pass(1_000)
    await submit(link, 'order_update')
    await link.deleteTemplate!(NAMED, never)
    await bench.pass(1_000)
    expect(bench.verdicts).toHaveLength(2)
  })

  test('is unavailable without a database, and reading it rejects', async () => {
    const closedDatabase = createDatabase({
      connectionString: 'postgres://127.0.0.1:1/none',
      poolSize: 1,
      onIdleError: () => {},
    })
    const away = createSandboxBench(closedDatabase)
    const link = await away.open()
    expect(await link.submitTemplate!(template('order_update'), never)).toMatchObject({ kind: 'unavailable' })
    await expect(link.readTemplate!('order_update', 'en', never)).rejects.toThrow()
    await link.close()
    await closedDatabase.close()
  })
})

test('the sandbox returns its identity', async () => {
  const link = await open()
  expect(await link.identity!(never)).toEqual({
    phoneNumber: '+12025550100',
    displayName: 'Posthorn Sandbox',
    qualityRating: 'GREEN',
    messagingLimit: 'TIER_UNLIMITED',
    status: 'CONNECTED',
  })
})

test('the inbox shows the template of a message with its values', async () => {
  const link = await open()
  const message = bench.outgoing({
    channel: 'official_chatapp',
    text: 'Hi Ada, order 1815 is on its way.',
    template: {
      name: 'order_update',
      language: 'en',
      providerTemplateId: 'sbt_1',
      header: {
        type: 'image',
        file: {
          type: 'image',
          mimetype: 'image/png',
          fileName: 'ship.png',
          open: async () => Readable.from([Buffer.from('ship')]),
        },
      },
      body: ['Ada', '1815'],
      buttons: [{ index: 0, subType: 'url', text: '1815' }],
    },
  })
  expect(await link.send(message, never)).toMatchObject({ kind: 'accepted' })
  const page = { accountId: message.accountId as AccountId, to: null, before: null, limit: 10 }
  expect((await readInbox(database.db, page)).rows).toMatchObject([
    {
      text: 'Hi Ada, order 1815 is on its way.',
      media: null,
      template: {
        name: 'order_update',
        language: 'en',
        header: { type: 'image', variables: null, media: { fileName: 'ship.png', sizeBytes: 4 } },
        body: ['Ada', '1815'],
        buttons: [{ index: 0, subType: 'url', text: '1815' }],
      },
    },
  ])
})
