import { describe, expect, test } from 'vitest'
import type { Channel } from '../../../src/contract/enums.ts'
import { type ChannelStat, learnedOrder, trialOrder } from '../../../src/core/verification/channel-order.ts'

const POLICY: Channel[] = ['local_sms', 'official_chatapp']
type Stats = Partial<Record<Channel, ChannelStat>>

function stat(tried: number, share: number, seconds = 5): ChannelStat {
  return { tried, verified: tried * share, delivered: tried, deliverySeconds: tried * seconds }
}

function order(own: Stats, everybody: Stats = {}) {
  const mapOf = (stats: Stats) => new Map(Object.entries(stats) as [Channel, ChannelStat][])
  const { by, channels } = learnedOrder(POLICY, { own: mapOf(own), allAccounts: mapOf(everybody) })
  return [by, ...channels.map(({ channel }) => channel)]
}

const KEPT = ['learned', 'local_sms', 'official_chatapp']
const TURNED = ['learned', 'official_chatapp', 'local_sms']
const POLICYS = ['policy', 'local_sms', 'official_chatapp']

describe('the order of channels', () => {
  test('is that of the policy while there is too little data', () => {
    expect(order({})).toEqual(POLICYS)
    expect(order({ official_chatapp: stat(500, 1) })).toEqual(POLICYS)
    expect(order({ local_sms: stat(29, 0), official_chatapp: stat(29, 1) })).toEqual(POLICYS)
  })

  test('follows the share of confirmed codes if the difference is clear', () => {
    expect(order({ local_sms: stat(40, 0.4), official_chatapp: stat(40, 0.9) })).toEqual(TURNED)
    expect(order({ local_sms: stat(40, 0.9), official_chatapp: stat(40, 0.4) })).toEqual(KEPT)
    expect(order({ local_sms: stat(400, 0.8), official_chatapp: stat(400, 0.82) })).toEqual(KEPT)
  })

  test('follows a clear difference in delivery time if equal shares of codes are confirmed', () => {
    expect(order({ local_sms: stat(200, 0.8, 120), official_chatapp: stat(200, 0.8, 3) })).toEqual(TURNED)
    expect(order({ local_sms: stat(200, 0.8, 9), official_chatapp: stat(200, 0.8, 3) })).toEqual(KEPT)
  })

  test('follows the data of all accounts if the account has little of its own, else its own', () => {
    const everybody = { local_sms: stat(5_000, 0.4), official_chatapp: stat(5_000, 0.9) }
    expect(order({}, everybody)).toEqual(TURNED)
    expect(order({ local_sms: stat(5, 1), official_chatapp: stat(5, 0) }, everybody)).toEqual(TURNED)
    expect(order({ local_sms: stat(300, 0.9), official_chatapp: stat(300, 0.5) }, everybody)).toEqual(KEPT)
  })

  test('comes with estimates between the observed and the expected values', () => {
    const { channels } = learnedOrder(POLICY, {
      own: new Map([['local_sms', stat(30, 1, 0)]]),
      allAccounts: new Map(),
    })
    // 30 of 30 confirmed, averaged with an expected 21 of 30.
    expect(channels).toEqual([
      { channel: 'local_sms', codes: 30, conversion: 0.85, deliverySeconds: 2.5 },
      { channel: 'official_chatapp', codes: 0, conversion: 0.7, deliverySeconds: 10 },
    ])
  })
})

describe('a trial', () => {
  const channelOf = (codes: number, channel: Channel) => ({
    channel,
    codes,
    conversion: 0.5,
    deliverySeconds: 5,
  })

  test('puts the channel with the least data first', () => {
    const channels = [
      channelOf(900, 'local_sms'),
      channelOf(50, 'official_chatapp'),
      channelOf(20, 'email_user'),
    ]
    expect(trialOrder({ channels })!.map(({ channel }) => channel)).toEqual([
      'email_user',
      'local_sms',
      'official_chatapp',
    ])
  })

  test('is null if every channel but the first has enough data', () => {
    expect(
      trialOrder({ channels: [channelOf(0, 'local_sms'), channelOf(200, 'official_chatapp')] }),
    ).toBeNull()
  })
})
