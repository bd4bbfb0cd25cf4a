import { describe, expect, test } from 'vitest'
import type { Channel, KeyMode } from '../../../src/contract/enums.ts'
import { Problem } from '../../../src/contract/errors.ts'
import { PLATFORM } from '../../../src/core/accounts/platform.ts'
import type { ConnectionSnapshot } from '../../../src/core/connections/snapshot.ts'
import type { OfficialChoice } from '../../../src/core/senders/official-order.ts'
import { officialConnections, officialSource } from '../../../src/core/senders/official-route.ts'
import type { AccountId, ConnectionId } from '../../../src/lib/ids.ts'

const ACCOUNT = 'acc_00000000000000000000000001' as AccountId
const idOf = (name: string) => `cnn_${name.padEnd(26, '0')}` as ConnectionId

function connection(name: string, more: Partial<ConnectionSnapshot> = {}): ConnectionSnapshot {
  return {
    id: idOf(name),
    accountId: ACCOUNT,
    provider: 'whatsapp-cloud',
    name,
    channels: ['official_chatapp'],
    config: {},
    enabled: true,
    priorityOrder: 100,
    retryPolicy: { maxAttempts: 1, backoffMs: 1 },
    allowedTypes: [],
    sendModeByType: {},
    revision: 1,
    ...more,
  }
}

const one = connection('one')
const two = connection('two')
const off = connection('off', { enabled: false })
const platform = connection('platform', { accountId: PLATFORM })
const sms = connection('sms', { provider: 'smpp', channels: ['int_sms'] })
const sandbox = connection('sandbox', {
  accountId: PLATFORM,
  provider: 'sandbox',
  channels: ['official_chatapp', 'int_sms'],
})

/** The names of those that carry a channel, in order. */
function carriers(
  channel: Channel,
  connections: readonly ConnectionSnapshot[],
  asked?: string,
  { choice, mode = 'live' }: { choice?: OfficialChoice; mode?: KeyMode } = {},
): string[] {
  const request = {
    body: asked === undefined ? {} : { officialSenderId: asked },
    accountId: ACCOUNT,
    mode,
    choice,
    channel: 'auto' as const,
  }
  return officialConnections(request, connections)
    .filter(each => each.channels.includes(channel))
    .map(each => each.name)
}

describe('the order of official senders', () => {
  const all = [platform, one, sms, two, sandbox]

  test('without a requested sender: the default, then the account’s own, then the platform’s', () => {
    expect(carriers('official_chatapp', all)).toEqual(['one', 'two', 'platform', 'sandbox'])
    expect(carriers('official_chatapp', all, undefined, { choice: two.id })).toEqual([
      'two',
      'one',
      'platform',
      'sandbox',
    ])
    expect(carriers('official_chatapp', all, undefined, { choice: null })).toEqual([
      'platform',
      'sandbox',
      'one',
      'two',
    ])
    // A removed default is ignored.
    expect(carriers('official_chatapp', all, undefined, { choice: idOf('gone') })[0]).toBe('one')
  })

  test('with a requested sender: only that one', () => {
    expect(carriers('official_chatapp', all, two.id, { choice: one.id })).toEqual(['two'])
    expect(carriers('official_chatapp', all, 'platform')).toEqual(['platform'])
  })

  test('connections of other channels are not affected', () => {
    for (const asked of [undefined, two.id, 'platform'])
      expect(carriers('int_sms', all, asked)).toEqual(['sms', 'sandbox'])
  })

  test('the sandbox is used as the platform’s number only if there is no real official sender', () => {
    expect(carriers('official_chatapp', [one, sandbox], 'platform')).toEqual([])
    expect(carriers('official_chatapp', [sms, sandbox], 'platform')).toEqual(['sandbox'])
  })

  test('a test key gets the sandbox, whichever sender it requests', () => {
    for (const asked of [two.id, 'platform'])
      expect(carriers('official_chatapp', all, asked, { mode: 'test' })).toEqual(['sandbox'])
    const ownSandbox = connection('mine', { provider: 'sandbox' })
    expect(carriers('official_chatapp', [...all, ownSandbox], ownSandbox.id, { mode: 'test' })).toEqual([
      'mine',
    ])
  })

  test('a test key that names the platform’s number gets the platform’s sandbox, not the account’s own', () => {
    const ownSandbox = connection('mine', { provider: 'sandbox' })
    expect(carriers('official_chatapp', [ownSandbox, sandbox], 'platform', { mode: 'test' })).toEqual([
      'sandbox',
    ])
    expect(carriers('official_chatapp', [ownSandbox, sandbox], undefined, { mode: 'test' })).toEqual([
      'mine',
      'sandbox',
    ])
  })

  test.each([
    ['unknown', idOf('nobody')],
    ['the platform’s sender, named by its id instead of “platform”,', platform.id],
    ['a connection of another channel', sms.id],
    ['disabled', off.id],
    ['not an id', 'x'],
  ])('a requested sender that is %s is refused, naming the field of the request', (_, asked) => {
    const request = {
      accountId: ACCOUNT,
      mode: 'live' as const,
      choice: undefined,
      channel: 'int_sms' as const,
    }
    const refusal = (body: Parameters<typeof officialConnections>[0]['body']) => {
      try {
        officialConnections({ ...request, body }, [...all, off])
      } catch (error) {
        return error instanceof Problem ? error.details?.[0]?.path : error
      }
    }
    expect(refusal({ officialSenderId: asked })).toBe('officialSenderId')
    expect(refusal({ sender: { officialId: asked } })).toBe('sender.officialId')
  })
})

test('officialSource returns how the sender was chosen', () => {
  expect(officialSource({ officialSenderId: 'platform' }, platform, undefined)).toBe('request')
  expect(officialSource({ sender: { officialId: one.id } }, one, undefined)).toBe('request')
  expect(officialSource({}, one, undefined)).toBe('official_default')
  expect(officialSource({}, platform, undefined)).toBe('platform')
  expect(officialSource({}, platform, null)).toBe('official_default')
  expect(officialSource({}, platform, one.id)).toBe('platform')
})
