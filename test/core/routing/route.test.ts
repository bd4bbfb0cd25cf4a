import { describe, expect, test } from 'vitest'
import { CHANNELS, type Channel, MESSAGE_TYPES } from '../../../src/contract/enums.ts'
import type { ConnectionSnapshot } from '../../../src/core/connections/snapshot.ts'
import { chooseRoute, type RouteRequest } from '../../../src/core/routing/route.ts'

const PHONE = { kind: 'phone', address: '+12025550123', country: 'US' } as const

/** Listed in the order given, as they come from the database. */
function connection(
  name: string,
  channels: Channel[],
  more: Partial<ConnectionSnapshot> = {},
): ConnectionSnapshot {
  return {
    id: `cnn_${name}`,
    accountId: 'acc_platform',
    provider: 'smpp',
    name,
    channels,
    config: {},
    enabled: true,
    priorityOrder: 100,
    retryPolicy: { maxAttempts: 3, backoffMs: 1 },
    allowedTypes: MESSAGE_TYPES,
    sendModeByType: {},
    revision: 1,
    ...more,
  }
}
const sandbox = connection('sandbox', [...CHANNELS], { provider: 'sandbox', priorityOrder: 1_000 })

function route(connections: ConnectionSnapshot[], more: Partial<RouteRequest> = {}) {
  const { channel, connection, candidates } = chooseRoute({
    channel: 'auto',
    recipient: PHONE,
    messageType: 'utility',
    contextChannel: null,
    homeCountry: 'US',
    mode: 'live',
    connections,
    sandboxForLive: true,
    excluded: [],
    ready: () => true,
    ...more,
  })
  return [channel, connection.name, candidates]
}

describe('the channel auto', () => {
  test('is the first channel in the order of the connections, with the others as candidates', () => {
    const sms = connection('sms', ['local_sms', 'int_sms'], { priorityOrder: 20 })
    const chat = connection('chat', ['official_chatapp'], { priorityOrder: 10 })
    expect(route([chat, sms])).toEqual(['official_chatapp', 'chat', ['official_chatapp', 'local_sms']])
    const early = { ...sms, priorityOrder: 5 }
    expect(route([early, chat])).toEqual(['local_sms', 'sms', ['local_sms', 'official_chatapp']])
  })

  test('is local or international SMS by the country of the account', () => {
    const sms = connection('sms', ['local_sms', 'int_sms'])
    expect(route([sms])).toEqual(['local_sms', 'sms', ['local_sms']])
    expect(route([sms], { homeCountry: 'GB' })).toEqual(['int_sms', 'sms', ['int_sms']])
  })

  test.each<[Partial<RouteRequest>, Channel]>([
    [{ recipient: { kind: 'group', address: '123456@g.us' } }, 'user_chatapp_session'],
    [{ recipient: { kind: 'email', address: 'a@example.com' } }, 'email_user'],
    [{ recipient: { kind: 'chat', address: '123' }, contextChannel: 'botapp_bot' }, 'botapp_bot'],
    [{ contextChannel: 'user_chatapp_session' }, 'user_chatapp_session'],
  ])('for %j is %s', (request, channel) => {
    expect(route([sandbox], request)).toEqual([channel, 'sandbox', [channel]])
  })

  test('is refused for a chat id without a conversationContext', () => {
    expect(() => route([sandbox], { recipient: { kind: 'chat', address: '123' } })).toThrow(
      /conversationContext/,
    )
  })
})

describe('the connection', () => {
  const first = connection('first', ['local_sms'])
  const second = connection('second', ['local_sms'])

  test('is the first that is enabled and allows the message type', () => {
    expect(route([first, second])[1]).toBe('first')
    expect(route([{ ...first, enabled: false }, second])[1]).toBe('second')
    expect(route([{ ...first, allowedTypes: ['otp'] }, second])[1]).toBe('second')
    expect(route([{ ...first, allowedTypes: ['otp'] }, second], { messageType: 'otp' })[1]).toBe('first')
  })

  test('is one that is ready, if there is one, even of another channel', () => {
    const down = (id: string) => id !== first.id
    expect(route([first, second], { ready: down })).toEqual(['local_sms', 'second', ['local_sms']])
    expect(route([first], { ready: down })).toEqual(['local_sms', 'first', ['local_sms']])
    const chat = connection('chat', ['official_chatapp'], { priorityOrder: 200 })
    expect(route([first, chat], { ready: down })).toEqual([
      'official_chatapp',
      'chat',
      ['official_chatapp', 'local_sms'],
    ])
  })

  test('is a real one that is not ready rather than the sandbox', () => {
    expect(route([first, sandbox], { ready: id => id === sandbox.id })).toEqual([
      'local_sms',
      'first',
      ['local_sms', 'official_chatapp'],
    ])
  })

  test('is none of an excluded channel', () => {
    const chat = connection('chat', ['official_chatapp'], { priorityOrder: 10 })
    expect(route([chat, first])).toEqual(['official_chatapp', 'chat', ['official_chatapp', 'local_sms']])
    expect(route([chat, first], { excluded: ['official_chatapp'] })).toEqual([
      'local_sms',
      'first',
      ['local_sms'],
    ])
  })

  test('is the sandbox for a live key only if it is allowed and no real one carries the channel', () => {
    expect(route([first, sandbox])[1]).toBe('first')
    expect(
      route([first, sandbox], {
        channel: 'email_user',
        recipient: { kind: 'email', address: 'a@b.example' },
      })[1],
    ).toBe('sandbox')
    expect(() => route([sandbox], { sandboxForLive: false })).toThrow(/no route/)
    expect(() => route([{ ...sandbox, enabled: false }])).toThrow(/no route/)
  })

  test('is always the sandbox for a test key, even if it is disabled or not for live keys', () => {
    for (const open of [sandbox, { ...sandbox, enabled: false }]) {
      expect(route([first, open], { mode: 'test', sandboxForLive: false })[1]).toBe('sandbox')
    }
  })
})

describe('no route', () => {
  test.each<[string, ConnectionSnapshot[], Partial<RouteRequest>, string]>([
    ['no connection carries the channel', [], { channel: 'local_sms' }, 'channel'],
    [
      'the connection of the channel does not allow the message type',
      [connection('otp', ['local_sms'], { allowedTypes: ['otp'] })],
      {},
      'messageType',
    ],
    ['the channel does not reach the recipient', [sandbox], { channel: 'email_user' }, 'to'],
    [
      'the channel is international SMS and the recipient is in the home country',
      [sandbox],
      { channel: 'int_sms' },
      'channel',
    ],
  ])('is a 400 that names the field if %s', (_, connections, request, path) => {
    expect(() => route(connections, request)).toThrow(
      expect.objectContaining({ status: 400, details: [expect.objectContaining({ path })] }),
    )
  })

  test('for a test key names the sandbox as what lacks the channel, whatever else carries it', () => {
    const narrowed = connection('sandbox', ['email_user'], { provider: 'sandbox' })
    const sms = connection('sms', ['local_sms'], { allowedTypes: ['otp'] })
    expect(() => route([sms, narrowed], { mode: 'test', channel: 'local_sms' })).toThrow(
      'no route: the sandbox, which test keys send through, does not carry local_sms',
    )
  })
})
