import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PLATFORM_SENDER } from '../../../src/contract/template.ts'
import { PLATFORM } from '../../../src/core/accounts/platform.ts'
import type { ConnectionSnapshot } from '../../../src/core/connections/snapshot.ts'
import { chooseRoute } from '../../../src/core/routing/route.ts'
import { OFFICIAL_CHANNEL, orderOfficial } from '../../../src/core/senders/official-order.ts'
import { officialConnections } from '../../../src/core/senders/official-route.ts'
import { chooseOfficialConnection } from '../../../src/core/templates/official-connection.ts'
import type { AccountId, ConnectionId } from '../../../src/lib/ids.ts'

const ACCOUNT: AccountId = 'acc_1'
const idOf = (at: number): ConnectionId => `cnn_${at}`

const connectionsOf = fc
  .array(
    fc.record({
      accountId: fc.constantFrom(ACCOUNT, PLATFORM),
      provider: fc.constantFrom('whatsapp-cloud', 'sandbox'),
      enabled: fc.boolean(),
      channels: fc.constantFrom(['official_chatapp'], ['official_chatapp', 'int_sms'], ['int_sms']),
    }),
    { maxLength: 5 },
  )
  .map(all =>
    all.map(
      (each, at) =>
        ({
          ...each,
          id: idOf(at),
          name: idOf(at),
          config: {},
          priorityOrder: 100,
          allowedTypes: ['utility'],
          revision: 1,
        }) as unknown as ConnectionSnapshot,
    ),
  )

const requests = fc.record({
  connections: connectionsOf,
  mode: fc.constantFrom('live' as const, 'test' as const),
  sandboxForLive: fc.boolean(),
  choice: fc.option(fc.constantFrom(...[0, 1, 2, 3, 4].map(idOf), null), { nil: undefined }),
  named: fc.option(fc.constantFrom(...[0, 1, 2, 3, 4].map(idOf), PLATFORM_SENDER), { nil: undefined }),
})

/** The answer, or the field that was refused. */
function attempt(choose: () => ConnectionId): string {
  try {
    return choose()
  } catch (error) {
    return `refused: ${(error as Error).message.split(':')[0]}`
  }
}

test('a template is submitted for the sender that a message with the same sender is sent by', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(requests, ({ connections, mode, sandboxForLive, choice, named }) => {
      const template = attempt(
        () =>
          chooseOfficialConnection({
            accountId: ACCOUNT,
            mode,
            requestedSender: named,
            connections,
            chosen: choice,
            sandboxForLive,
          }).connectionId,
      )
      const message = attempt(() => {
        const request = { accountId: ACCOUNT, mode, choice, channel: OFFICIAL_CHANNEL }
        return chooseRoute({
          channel: OFFICIAL_CHANNEL,
          recipient: { kind: 'phone', address: '+9613123456', country: 'LB' } as never,
          messageType: 'utility',
          contextChannel: null,
          homeCountry: 'LB',
          mode,
          connections: officialConnections(
            { ...request, body: named === undefined ? {} : { officialSenderId: named } },
            connections,
          ),
          sandboxForLive,
          excluded: [],
          ready: () => true,
        }).connection.id
      })
      // Without any connection a message has no route, and a template has no sender.
      expect(template === 'refused: officialSenderId' ? 'refused' : template).toBe(
        message.startsWith('refused: ') ? 'refused' : message,
      )
      seen.add(`${mode} ${message.startsWith('refused') ? message : 'sent'}`)
    }),
    { numRuns: 3_000, seed: 1 },
  )
  expect([...seen].sort()).toEqual([
    'live refused: channel',
    'live refused: officialSenderId',
    'live sent',
    'test refused: channel',
    'test refused: officialSenderId',
    'test sent',
  ])
})

test('the order has the default first, then the account’s own, then the platform’s, each in their order', () => {
  fc.assert(
    fc.property(requests, ({ connections, mode, choice }) => {
      const ordered = orderOfficial(connections, { accountId: ACCOUNT, mode, choice, named: null })
      const official = connections.filter(each => each.channels.includes(OFFICIAL_CHANNEL))
      const isDefault = (each: ConnectionSnapshot) =>
        choice === null ? each.accountId === PLATFORM : each.id === choice
      const rest = official.filter(each => choice === undefined || !isDefault(each))
      expect(ordered).toEqual([
        ...official.filter(each => !rest.includes(each)),
        ...rest.filter(each => each.accountId === ACCOUNT),
        ...rest.filter(each => each.accountId === PLATFORM),
      ])
    }),
    { seed: 1 },
  )
})
