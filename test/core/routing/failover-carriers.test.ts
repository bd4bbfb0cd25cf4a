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

/** After a failure over `a`, the caller having left the channel to us. */
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

describe('where a message goes after a connection that did not take it', () => {
  test('over its own channel first, in the order of the connections, whatever the other channel’s order', () => {
    expect(onward([chat, a, b, c])).toEqual(['b local_sms', 'c local_sms', 'chat official_chatapp'])
  })

  test('nowhere twice', () => {
    const tried = [a, b].map(({ id }) => ({ channel: 'local_sms' as const, connectionId: id }))
    expect(onward([a, b], { tried })).toEqual([])
    expect(onward([a, b, c], { tried })).toEqual(['c local_sms'])
  })

  test('over the same connection by another channel that it carries', () => {
    const both = connection('a', ['local_sms', 'official_chatapp'])
    expect(onward([both])).toEqual(['a official_chatapp'])
  })

  test('over no channel that routing had not considered, nor over one that its words do not fit', () => {
    expect(onward([chat, a], { candidates: ['local_sms'] })).toEqual([])
    expect(onward([chat, a, b], { isBoundToChannel: true })).toEqual(['b local_sms'])
  })

  test('not over the other connections of a channel on which the recipient is not', () => {
    expect(onward([chat, a, b], { unreachableChannels: ['local_sms'] })).toEqual(['chat official_chatapp'])
  })

  test('over what works before what does not, be it of another channel', () => {
    const ready = (id: string) => id !== b.id
    expect(onward([a, b, c, chat], { ready })).toEqual([
      'c local_sms',
      'chat official_chatapp',
      'b local_sms',
    ])
  })

  test('not over what is closed, or does not take the type', () => {
    expect(onward([a, { ...b, enabled: false }, { ...c, allowedTypes: ['otp'] }])).toEqual([])
  })

  test('never out of the sandbox, nor into it', () => {
    expect(onward([a, sandbox])).toEqual([])
    const inside = { channel: 'official_chatapp' as const, provider: 'sandbox', tried: [] }
    expect(onward([a, sandbox], inside)).toEqual(['sandbox official_chatapp'])
    const test = { ...inside, mode: 'test' as const }
    expect(onward([a, b, sandbox], test)).toEqual(['sandbox official_chatapp', 'sandbox local_sms'])
  })
})
