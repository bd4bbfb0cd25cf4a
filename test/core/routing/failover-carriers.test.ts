import { describe, expect, test } from 'vitest'
import { type Channel, MESSAGE_TYPES } from '../../../src/contract/enums.ts'
import type { ConnectionSnapshot } from '../../../src/core/connections/snapshot.ts'
import { type FailoverRequest, failoverCarriers } from '../../../src/core/routing/failover-carriers.ts'

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
const a = connection('a', ['local_sms'])
const b = connection('b', ['local_sms'])
const c = connection('c', ['local_sms'])
const chat = connection('chat', ['official_chatapp'], { provider: 'whatsapp-cloud', priorityOrder: 10 })
const sandbox = connection('sandbox', ['local_sms', 'official_chatapp'], {
  provider: 'sandbox',
  priorityOrder: 1_000,
})

/** The carriers after a failure over `a`, for a request that left the channel open. */
function onward(connections: ConnectionSnapshot[], more: Partial<FailoverRequest> = {}): string[] {
  return failoverCarriers({
    mode: 'live',
    messageType: 'utility',
    connections,
    sandboxForLive: true,
    ready: () => true,
    channel: 'local_sms',
    provider: 'smpp',
    candidates: ['local_sms', 'official_chatapp'],
    tried: [{ channel: 'local_sms', connectionId: a.id }],
    unreachableChannels: [],
    isBoundToChannel: false,
    ...more,
  }).map(({ channel, connection }) => `${connection.name} ${channel}`)
}

describe('failoverCarriers, after a connection did not take the message', () => {
  test('puts the same channel first, in the order of the connections, whatever the priority of others', () => {
    expect(onward([chat, a, b, c])).toEqual(['b local_sms', 'c local_sms', 'chat official_chatapp'])
  })

  test('excludes connections that were tried', () => {
    const tried = [a, b].map(({ id }) => ({ channel: 'local_sms' as const, connectionId: id }))
    expect(onward([a, b], { tried })).toEqual([])
    expect(onward([a, b, c], { tried })).toEqual(['c local_sms'])
  })

  test('includes the same connection by another channel that it carries', () => {
    const both = connection('a', ['local_sms', 'official_chatapp'])
    expect(onward([both])).toEqual(['a official_chatapp'])
  })

  test('excludes channels that are no candidates, or all others if the message is bound to its channel', () => {
    expect(onward([chat, a], { candidates: ['local_sms'] })).toEqual([])
    expect(onward([chat, a, b], { isBoundToChannel: true })).toEqual(['b local_sms'])
  })

  test('excludes all connections of a channel that does not reach the recipient', () => {
    expect(onward([chat, a, b], { unreachableChannels: ['local_sms'] })).toEqual(['chat official_chatapp'])
  })

  test('puts connections that are ready first, even those of another channel', () => {
    const ready = (id: string) => id !== b.id
    expect(onward([a, b, c, chat], { ready })).toEqual([
      'c local_sms',
      'chat official_chatapp',
      'b local_sms',
    ])
  })

  test('excludes connections that are disabled or do not allow the message type', () => {
    expect(onward([a, { ...b, enabled: false }, { ...c, allowedTypes: ['otp'] }])).toEqual([])
  })

  test('never leads out of the sandbox or into it', () => {
    expect(onward([a, sandbox])).toEqual([])
    const inside = { channel: 'official_chatapp' as const, provider: 'sandbox', tried: [] }
    expect(onward([a, sandbox], inside)).toEqual(['sandbox official_chatapp'])
    const test = { ...inside, mode: 'test' as const }
    expect(onward([a, b, sandbox], test)).toEqual(['sandbox official_chatapp', 'sandbox local_sms'])
  })
})
