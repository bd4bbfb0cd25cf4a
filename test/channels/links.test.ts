import { expect, test } from 'vitest'
import { createLinks, type LinkSpec } from '../../src/channels/links.ts'
import type { Link, Provider } from '../../src/channels/provider.ts'
import type { AccountId, ConnectionId } from '../../src/lib/ids.ts'
import { createFakeClock, turn } from '../support/fake-clock.ts'

const ID = 'cnn_00000000000000000000000001' as ConnectionId
const SPEC: LinkSpec = {
  id: ID,
  accountId: 'acc_00000000000000000000000001' as AccountId,
  provider: 'carrier',
  channels: ['int_sms'],
  enabled: true,
  revision: 1,
  retryPolicy: { maxAttempts: 3, backoffMs: 1_000 },
}

/** Links to a carrier whose configuration can be read only from the nth attempt on. */
function open(
  readableFrom: number,
  link: () => Promise<Link> = async () => LINK,
  readSpecs: () => Promise<readonly LinkSpec[]> = async () => [SPEC],
) {
  const clock = createFakeClock()
  let reads = 0
  const links = createLinks({
    clock,
    providers: new Map([['carrier', { key: 'carrier', open: link } as unknown as Provider]]),
    readSpecs,
    async openConfig() {
      if (++reads < readableFrom) throw new Error('the store is away')
      return {}
    },
    io: () => ({}) as never,
    log: { info() {}, warn() {}, debug() {} },
    changed() {},
  })
  return { clock, links, reads: () => reads }
}

const LINK: Link = {
  concurrency: 1,
  send: async () => ({ kind: 'unknown', detail: '' }),
  async close() {},
}

test('a connection whose configuration could not be read is opened later by a retry', async () => {
  const { clock, links, reads } = open(3)
  await links.sync()
  expect(links.get(ID)).toBeUndefined()
  await clock.advance(1_000)
  expect([reads(), links.get(ID)]).toEqual([2, undefined])
  await clock.advance(1_999)
  expect(reads()).toBe(2)
  await clock.advance(1)
  expect(links.get(ID)).toMatchObject({ id: ID, link: LINK })
  expect(clock.pending()).toBe(0)
})

test('connections that could not be read are read again by a retry, and the links stay open until then', async () => {
  const reads = [
    async () => [SPEC],
    async () => Promise.reject(new Error('the store is away')),
    async () => [],
  ]
  const { clock, links } = open(1, undefined, () => reads.shift()!())
  await links.sync()
  await expect(links.sync()).rejects.toThrow('the store is away')
  expect(links.get(ID)).toMatchObject({ id: ID })
  await clock.advance(1_000)
  expect([links.get(ID), reads, clock.pending()]).toEqual([undefined, [], 0])
})

test('the connections that were asked for last count, even if their read ends before an earlier one', async () => {
  const slow = Promise.withResolvers<readonly LinkSpec[]>()
  const reads = [() => slow.promise, async () => [SPEC]]
  const { links } = open(1, undefined, () => reads.shift()!())
  const earlier = links.sync()
  const later = links.sync()
  await turn()
  slow.resolve([])
  await Promise.all([earlier, later])
  expect(links.get(ID)).toMatchObject({ id: ID })
})

test('a connection that fails to open is not retried, and close() ends all retries', async () => {
  const broken = open(1, async () => {
    throw new Error('from is not a mail address')
  })
  await broken.links.sync()
  expect([broken.links.get(ID), broken.clock.pending()]).toEqual([undefined, 0])

  const { clock, links, reads } = open(Number.POSITIVE_INFINITY)
  await links.sync()
  await links.close()
  await clock.advance(600_000)
  expect(reads()).toBe(1)
})
