import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OfficialSender } from '../../../src/contract/official.ts'
import { whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type HttpPeer, startHttpPeer } from '../../support/http-peer.ts'

const IDENTITY = {
  display_phone_number: '+1 555-078-3881',
  verified_name: 'Jasper’s Market',
  quality_rating: 'GREEN',
  status: 'CONNECTED',
  whatsapp_business_manager_messaging_limit: 'TIER_10K',
}

let app: TestApp
let peer: HttpPeer
let account: TestAccount
let other: TestAccount
/** The account's own connection, the other account's, and one of the account's that is disabled. */
let own: string
let foreign: string
let disabled: string

beforeAll(async () => {
  peer = await startHttpPeer((request, nth) =>
    request.method === 'GET'
      ? { status: 200, body: JSON.stringify(IDENTITY) }
      : whatsAppCloudFixture.taken(nth),
  )
  app = await startTestApp()
  account = await app.createAccount()
  other = await app.createAccount()
  own = await connect('Support', account)
  foreign = await connect('Theirs', other)
  disabled = await connect('Off', account, { enabled: false })
}, 60_000)
afterAll(async () => {
  await app.stop()
  await peer.close()
})

async function connect(name: string, owner: TestAccount, more: object = {}): Promise<string> {
  const answer = await app.admin('POST', '/connections', {
    provider: 'whatsapp-cloud',
    name,
    channels: ['official_chatapp'],
    config: whatsAppCloudFixture.configFor(peer.url),
    accountId: owner.id,
    ...more,
  })
  expect(answer.status, answer.text).toBe(201)
  return (answer.body['data'] as { connection: { id: string } }).connection.id
}

const get = (key: string | null) => app.call('/api/v2/official-senders', { key })
const choose = (key: string | null, id: string) =>
  app.call(`/api/v2/official-senders/${id}/default`, { method: 'POST', key })
const listOf = (answer: Answer) => answer.body['data'] as OfficialSender[]
const defaults = (senders: readonly OfficialSender[]) =>
  senders.filter(each => each.isDefault).map(each => each.id)

describe('GET /api/v2/official-senders', () => {
  test('lists the account’s own senders, with the details from their provider', async () => {
    const answer = await app.until(
      () => get(account.liveKey),
      found => listOf(found).some(each => each.status === 'connected'),
    )
    expect(answer.body).toEqual({
      success: true,
      data: [
        {
          id: own,
          scope: 'official_sender',
          isPlatform: false,
          isDefault: true,
          label: 'Jasper’s Market (+15550783881)',
          phoneNumber: '+15550783881',
          displayName: 'Jasper’s Market',
          status: 'connected',
          qualityRating: 'GREEN',
          messagingLimit: 'TIER_10K',
          lastCheckedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        },
        expect.objectContaining({ id: disabled, label: 'Off', status: 'disabled', isDefault: false }),
      ],
      nextCursor: null,
    })
    expect(JSON.stringify(answer.body)).not.toContain(foreign)
  })

  test('is paged when a limit is given', async () => {
    const page = (query: string) => app.call(`/api/v2/official-senders?${query}`, { key: account.testKey })
    const first = await page('limit=2')
    expect(listOf(first).map(each => each.id)).toEqual([own, disabled])
    const cursor = first.body['nextCursor'] as string
    const rest = await page(`limit=2&cursor=${cursor}`)
    expect(listOf(rest).map(each => each.id)).toEqual(['platform'])
    expect(rest.body['nextCursor']).toBeNull()
    expect((await page('limit=3')).body['nextCursor']).toBeNull()
  })

  test.each(['limit=0', 'limit=501', 'cursor=zz'])('rejects %s', async query => {
    const answer = await app.call(`/api/v2/official-senders?${query}`, { key: account.testKey })
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
    expect(faultPaths(answer)).toEqual([query.split('=')[0]])
  })

  test('lists the platform’s sender too for a test key: the sandbox', async () => {
    const answer = await app.until(
      () => get(account.testKey),
      found => listOf(found).at(-1)?.status === 'connected',
    )
    expect(listOf(answer).at(-1)).toEqual({
      id: 'platform',
      scope: 'platform',
      isPlatform: true,
      isDefault: false,
      label: null,
      phoneNumber: null,
      displayName: 'Posthorn Sandbox',
      status: 'connected',
      qualityRating: 'GREEN',
      messagingLimit: 'TIER_UNLIMITED',
      lastCheckedAt: expect.any(String),
    })
  })

  test('lists the platform’s sender as the default of an account without its own', async () => {
    const bare = await app.createAccount()
    for (const key of [bare.liveKey, bare.testKey]) {
      expect(listOf(await get(key))).toMatchObject([{ id: 'platform', isDefault: true }])
    }
  })

  test('lists an own sandbox as the default, since messages without a sender go over it', async () => {
    const tester = await app.createAccount()
    const mine = await connect('Mine', tester, { provider: 'sandbox', config: {} })
    for (const key of [tester.liveKey, tester.testKey]) {
      expect(defaults(listOf(await get(key)))).toEqual([mine])
      const sent = await app.call('/api/v2/messages/send', {
        method: 'POST',
        key,
        body: { to: '+12025550123', channel: 'official_chatapp', text: 'Hi' },
      })
      expect(sent.body['resolved']).toMatchObject({ provider: 'sandbox', senderSource: 'official_default' })
    }
  })

  test.each(['liveKey', 'testKey'] as const)(
    'a template for the platform’s number is not bound to an own sandbox (%s)',
    async key => {
      const tester = await app.createAccount()
      await connect('Mine', tester, { provider: 'sandbox', config: {} })
      const created = await app.call('/api/v2/templates', {
        method: 'POST',
        key: tester[key],
        body: {
          name: 'for_platform',
          category: 'chatapp',
          subType: 'utility',
          language: 'en',
          body: 'Hi',
          officialSenderId: 'platform',
        },
      })
      expect(created.status, created.text).toBe(201)
      expect((created.body['data'] as { template: object }).template).toMatchObject({
        officialSenderId: 'platform',
        isPlatformNumber: true,
      })
    },
  )

  test('lists the same senders as GET /api/v2/account', async () => {
    const { body } = await app.call('/api/v2/account', { key: account.liveKey })
    expect((body['data'] as { officialSenders: unknown }).officialSenders).toEqual(
      listOf(await get(account.liveKey)),
    )
  })

  test('returns 401 without a key', async () => {
    expect((await get(null)).status).toBe(401)
  })
})

describe('POST /api/v2/official-senders/{id}/default', () => {
  test('changes the default sender', async () => {
    const moved = await choose(account.testKey, 'platform')
    expect(moved).toMatchObject({ status: 200, body: { data: { id: 'platform', isDefault: true } } })
    expect(defaults(listOf(await get(account.testKey)))).toEqual(['platform'])
    const back = await choose(account.testKey, own)
    expect(back).toMatchObject({ status: 200, body: { data: { id: own, isDefault: true } } })
    expect(defaults(listOf(await get(account.testKey)))).toEqual([own])
    expect((await choose(account.testKey, own)).status).toBe(200)
    expect(defaults(listOf(await get(other.testKey)))).toEqual([foreign])
  })

  test.each([
    ['a sender of another account', () => foreign],
    ['an unknown id', () => 'cnn_00000000000000000000000000'],
    ['a malformed id', () => 'nobody'],
  ])('returns 404 for: %s', async (_, id) => {
    expect(await choose(account.liveKey, id())).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  })

  test('returns 404 for the platform’s sender when a live key has none', async () => {
    expect((await choose(account.liveKey, 'platform')).status).toBe(404)
  })

  test('returns 409 for a disabled sender', async () => {
    expect(await choose(account.liveKey, disabled)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  })

  test('returns 401 without a key', async () => {
    expect((await choose(null, own)).status).toBe(401)
  })
})

describe('a provider that fails to return the sender’s details', () => {
  test('is requested again after a minute, and the sender is listed meanwhile', async () => {
    let answers = false
    const shy = await startHttpPeer(() =>
      answers ? { status: 200, body: JSON.stringify({ verified_name: 'Shy' }) } : { status: 500 },
    )
    const guarded = await app.createAccount()
    await connect('Shy number', guarded, { config: whatsAppCloudFixture.configFor(shy.url) })
    await app.until(get.bind(null, guarded.liveKey), () => shy.requests.length > 0)
    const [unknown] = listOf(await get(guarded.liveKey))
    expect(unknown).toMatchObject({ status: 'unknown', label: 'Shy number', lastCheckedAt: null })
    const asked = shy.requests.length
    await app.pass(50_000)
    expect(shy.requests).toHaveLength(asked)
    answers = true
    await app.pass(20_000)
    const found = await app.until(
      () => get(guarded.liveKey),
      answer => listOf(answer)[0]?.lastCheckedAt !== null,
    )
    expect(listOf(found)[0]).toMatchObject({ label: 'Shy', phoneNumber: null, status: 'unknown' })
    await shy.close()
  })
})

test('a sender reconfigured to another number is never shown with its former number', async () => {
  const numbers: Record<string, string> = { '111': '+1 555-078-0111', '222': '+1 555-078-0222' }
  const graph = await startHttpPeer(({ path }) => {
    const [id] = Object.keys(numbers).filter(each => path.includes(each))
    return {
      status: 200,
      body: JSON.stringify({ verified_name: 'Acme', display_phone_number: numbers[id!] }),
    }
  })
  const moving = await app.createAccount()
  const config = { ...whatsAppCloudFixture.configFor(graph.url), phoneNumberId: '111' }
  const id = await connect('Front desk', moving, { config })
  const shown = async () => listOf(await get(moving.liveKey))[0]!.phoneNumber
  await app.until(shown, number => number === '+15550780111')
  const body = { config: { phoneNumberId: '222' } }
  expect((await app.admin('PATCH', `/connections/${id}`, body)).status).toBe(200)
  expect(await shown()).not.toBe('+15550780111')
  await app.until(shown, number => number === '+15550780222')
  await graph.close()
})
