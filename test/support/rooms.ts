import { randomUUID } from 'node:crypto'
import type { Provider } from '../../src/channels/provider.ts'
import { createRegistry } from '../../src/channels/registry.ts'
import { createSandboxProvider } from '../../src/channels/sandbox.ts'
import type { ConnectionTest } from '../../src/contract/admin.ts'
import type { Channel } from '../../src/contract/enums.ts'
import { createAccountAdmin } from '../../src/core/accounts/admin.ts'
import { createKeys } from '../../src/core/accounts/keys.ts'
import { createNewKeys } from '../../src/core/accounts/new-key.ts'
import { createAccountReader } from '../../src/core/accounts/reader.ts'
import { createAccountSnapshots } from '../../src/core/accounts/snapshots.ts'
import { accountExists } from '../../src/core/accounts/store.ts'
import { createLedger } from '../../src/core/billing/ledger.ts'
import { createPrices } from '../../src/core/billing/prices.ts'
import { createWallets } from '../../src/core/billing/wallets.ts'
import { createDecisionPublisher } from '../../src/core/callbacks/sender-decisions.ts'
import { createConnectionAdmin } from '../../src/core/connections/admin.ts'
import { createConnectionSnapshots } from '../../src/core/connections/snapshot.ts'
import { createSandboxInbox } from '../../src/core/sandbox/store.ts'
import { createOfficialSenders } from '../../src/core/senders/official.ts'
import { createOwnSenders } from '../../src/core/senders/own.ts'
import { createSenderReview } from '../../src/core/senders/review.ts'
import { createSenderSnapshots } from '../../src/core/senders/snapshot.ts'
import { explainFaults } from '../../src/http/schema-faults.ts'
import { type Changes, createChanges, type ListenClient } from '../../src/infra/changes.ts'
import type { Database } from '../../src/infra/db.ts'
import { createSeal } from '../../src/infra/seal.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { type AccountId, createIds, toUuid } from '../../src/lib/ids.ts'
import { createPhones } from '../../src/lib/phone.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createFakeClock } from './fake-clock.ts'
import { createSignals } from './signals.ts'

export type Rooms = Awaited<ReturnType<typeof openRooms>>

/** All services for accounts and operators of one node, on a real database, wired as in app.ts. */
export async function openRooms(
  db: Database,
  options: {
    /** By default a clock that stands still, so that a slow machine makes nothing stale. */
    clock?: Clock
    /** How the node's listening connection is made; a dedicated one by default. */
    connect?: () => Promise<ListenClient>
    testLink?: (id: string) => Promise<ConnectionTest>
    /** Brings the links in line with a changed connection; there are none by default. */
    applied?: () => Promise<void>
  } = {},
) {
  const clock = options.clock ?? createFakeClock()
  const random = createRandom()
  const ids = createIds(clock, random)
  const heard = createSignals()
  const log: string[] = []
  const write = (_: object, text: string) => {
    log.push(text)
    heard.notify()
  }
  const changes = createChanges({
    clock,
    connect: options.connect ?? db.dedicated,
    log: { info: write, warn: write },
  })
  const shared = { db, clock, changes }
  const accounts = createAccountSnapshots(shared)
  const keys = createKeys({ ...shared, accounts })
  const wallets = createWallets({ db, ids })
  const accountAdmin = createAccountAdmin({
    db,
    clock,
    ids,
    newKeys: createNewKeys({ db, clock, ids, random, changes }),
    changes,
    phones: createPhones({ cacheSize: 10 }),
    openWallet: wallets.open,
    isCodeTemplate: async () => false,
  })
  const seal = createSeal(Buffer.alloc(32, 7), random)
  const sendersApplied = (id: AccountId) => changes.publish('sms_senders', id)
  const senderReview = createSenderReview({
    db,
    ids,
    notifyDecision: createDecisionPublisher({ clock, ids }),
    applied: sendersApplied,
  })
  const providers = createRegistry(
    createSandboxProvider({ inbox: createSandboxInbox({ db }) }) as unknown as Provider,
  )
  const connections = createConnectionSnapshots(shared)
  const officialSenders = createOfficialSenders({ db, connections, sandboxForLive: true, applied: () => {} })
  const rooms = {
    clock,
    ids,
    changes,
    log,
    heard,
    accounts,
    keys,
    wallets,
    accountAdmin,
    senderReview,
    ownSenders: createOwnSenders({ db, ids, seal, checkUrl: () => null, applied: sendersApplied }),
    senders: createSenderSnapshots(shared),
    ledger: createLedger({ db }),
    prices: createPrices(shared),
    connections,
    connectionAdmin: createConnectionAdmin({
      db,
      ids,
      seal,
      providers,
      explain: explainFaults,
      accountExists: id => accountExists(db, id),
      testLink: options.testLink ?? (async () => ({ ok: true, detail: 'bound' })),
      stateOf: () => ({ link: 'closed', detail: '', circuit: 'closed' }),
      onConfigChanged: async () => {},
      applied: options.applied ?? (async () => {}),
      log: { warn: write },
    }),
    account: createAccountReader({
      db,
      clock,
      sendersOf: senderReview.ofAccount,
      officialSendersOf: officialSenders.list,
    }),
    officialSenders,
    /** Resolves when this node has received every change that was committed before the call. */
    caughtUp: () => caughtUp(db, changes),
    /** Sets a pool's usage, as the hot path does. */
    async setUsed(accountId: string, channel: Channel, used: number) {
      await db.query({
        name: 'set_used',
        text: 'update pools set used = $3 where account_id = $1 and $2 = any (channels)',
        values: [toUuid(accountId as AccountId), channel, used],
      })
    },
    stop: () => changes.stop(),
  }
  // Subscribed last, so that all caches are up to date when it is notified.
  changes.subscribe({ changed: () => heard.notify(), reset: () => heard.notify() })
  await changes.start()
  return rooms
}

/** Notifications arrive in the order of commits: after this one, all earlier ones have arrived. */
async function caughtUp(db: Database, changes: Changes): Promise<void> {
  const mark = `mark_${randomUUID()}`
  const heard = new Promise<void>(resolve => {
    const end = changes.subscribe({
      changed(table) {
        if (table !== mark) return
        end()
        resolve()
      },
      reset() {},
    })
  })
  await db.query({ name: 'mark', text: `select pg_notify('posthorn_changes', $1)`, values: [`${mark}:`] })
  await heard
}

/** The smallest valid account. */
export const BASIC_ACCOUNT = {
  name: 'Acme',
  homeCountry: 'US',
  currency: 'USD',
  phone: { number: '+12025550123', verified: true },
}

/** Connects a node that receives no notifications and does not notice: it knows only its own changes. */
export const deaf = async (): Promise<ListenClient> => ({
  async query() {},
  on() {},
  async end() {},
})
