import { describe, expect, test } from 'vitest'
import { PLATFORM } from '../../../src/core/accounts/platform.ts'
import type { ConnectionSnapshot } from '../../../src/core/connections/snapshot.ts'
import {
  type ConnectionRequest,
  chooseOfficialConnection,
} from '../../../src/core/templates/official-connection.ts'
import type { AccountId, ConnectionId } from '../../../src/lib/ids.ts'

const ACCOUNT: AccountId = 'acc_1'
const connection = (id: string, accountId: AccountId, more: Partial<ConnectionSnapshot> = {}) =>
  ({
    id: `cnn_${id}`,
    accountId,
    provider: 'whatsapp-cloud',
    channels: ['official_chatapp'],
    enabled: true,
    ...more,
  }) as ConnectionSnapshot

const first = connection('first', ACCOUNT)
const second = connection('second', ACCOUNT)
const off = connection('off', ACCOUNT, { enabled: false })
const platform = connection('platform', PLATFORM)
const sandbox = connection('sandbox', PLATFORM, { provider: 'sandbox' })
const sms = connection('sms', PLATFORM, { channels: ['local_sms'] })

const choose = (connections: ConnectionSnapshot[], more: Partial<ConnectionRequest> = {}) =>
  chooseOfficialConnection({
    accountId: ACCOUNT,
    mode: 'live',
    requestedSender: undefined,
    connections: [sms, ...connections],
    chosen: undefined,
    sandboxForLive: true,
    ...more,
  })
const idOf = (...args: Parameters<typeof choose>) => choose(...args).connectionId

describe('chooseOfficialConnection', () => {
  const all = [off, first, second, platform, sandbox]

  test('takes the requested sender, else the default, else the first, else the platform’s', () => {
    expect(idOf(all, { requestedSender: second.id, chosen: first.id })).toBe(second.id)
    expect(idOf(all, { chosen: second.id })).toBe(second.id)
    expect(idOf(all)).toBe(first.id)
    expect(idOf(all, { chosen: null })).toBe(platform.id)
    expect(idOf([platform, sandbox])).toBe(platform.id)
    expect(choose(all, { requestedSender: 'platform' })).toEqual({
      connectionId: platform.id,
      onPlatformNumber: true,
      sandbox: false,
    })
    expect(choose(all).onPlatformNumber).toBe(false)
  })

  test('ignores a default that is disabled or removed, as sends do', () => {
    const removed = connection('gone', ACCOUNT)
    for (const chosen of [off.id, removed.id]) {
      expect(idOf(all, { chosen })).toBe(first.id)
      expect(idOf([off, platform, sandbox], { chosen })).toBe(platform.id)
    }
  })

  test('refuses a sender that is unknown, disabled, of another account, or the platform’s by its id', () => {
    const foreign = connection('foreign', 'acc_2')
    for (const asked of ['nobody', off.id, foreign.id, platform.id, sms.id]) {
      expect(() => choose([...all, foreign], { requestedSender: asked })).toThrow('officialSenderId: ')
    }
  })

  test('takes the sandbox for a test key, and for a live key only if there is no other connection', () => {
    expect(choose(all, { mode: 'test' })).toMatchObject({ connectionId: sandbox.id, sandbox: true })
    expect(idOf(all, { mode: 'test', requestedSender: first.id })).toBe(sandbox.id)
    expect(() => choose(all, { mode: 'test', requestedSender: 'nobody' })).toThrow('officialSenderId: ')
    expect(idOf([sandbox])).toBe(sandbox.id)
    expect(() => choose([sandbox], { sandboxForLive: false })).toThrow('officialSenderId: ')
    const rested = { ...sandbox, enabled: false }
    expect(() => choose([rested])).toThrow('officialSenderId: ')
    expect(() => choose([rested], { requestedSender: 'platform' })).toThrow('officialSenderId: ')
    expect(idOf([rested], { mode: 'test' })).toBe(sandbox.id)
    expect(() => choose([off, sandbox])).toThrow('officialSenderId: ')
    expect(() => choose([])).toThrow('officialSenderId: ')
  })

  test('takes the account’s own sandbox as sends do, and the platform’s where the platform is meant', () => {
    const mine = connection('mine', ACCOUNT, { provider: 'sandbox' })
    for (const mode of ['live', 'test'] as const) {
      expect(idOf([mine, sandbox], { mode })).toBe(mine.id)
      expect(idOf([sandbox, mine], { mode })).toBe(mine.id)
      expect(idOf([mine, sandbox], { mode, requestedSender: mine.id })).toBe(mine.id)
      expect(idOf([sandbox, mine], { mode, requestedSender: mine.id })).toBe(mine.id)
      expect(idOf([mine, sandbox], { mode, requestedSender: 'platform' })).toBe(sandbox.id)
      expect(idOf([mine, sandbox], { mode, chosen: null })).toBe(sandbox.id)
      expect(idOf([mine, sandbox], { mode, chosen: null, requestedSender: mine.id })).toBe(mine.id)
    }
    expect(idOf([mine, platform, sandbox])).toBe(platform.id)
    expect(idOf([mine, platform, sandbox], { mode: 'test' })).toBe(mine.id)
  })

  test('takes the platform’s number for templates of the platform, but not by its id', () => {
    expect(idOf([platform, sandbox], { accountId: PLATFORM })).toBe(platform.id)
    expect(() =>
      choose([platform], { accountId: PLATFORM, requestedSender: platform.id as ConnectionId }),
    ).toThrow()
  })
})
