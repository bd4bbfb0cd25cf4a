import type { PriceInput } from '../contract/admin.ts'
import { CHANNELS, type Channel } from '../contract/enums.ts'
import { SANDBOX } from '../contract/sandbox.ts'
import type { Database, Db } from '../infra/db.ts'
import type { AccountAdmin } from './accounts/admin.ts'
import { isEmptyStore, lockSeed } from './accounts/store.ts'
import type { Prices } from './billing/prices.ts'
import type { ConnectionAdmin } from './connections/admin.ts'
import type { SenderReview } from './senders/review.ts'

export type SeedDeps = {
  db: Database
  accounts: Pick<AccountAdmin, 'createIn'>
  prices: Pick<Prices, 'replaceIn'>
  connections: Pick<ConnectionAdmin, 'createIn'>
  senders: Pick<SenderReview, 'createPlatformIn'>
}

/** Higher than the default priority of real connections, so that these are tried first. */
const SANDBOX_PRIORITY = 1_000

/**
 * Fills an empty database with what a first send needs: an account, prices, a
 * sender name, and the sandbox on every channel. One transaction, and only once, even
 * if several nodes start at the same time. Returns the account's test key in the clear;
 * null if the database was not empty.
 */
export function seed(deps: SeedDeps): Promise<{ testKey: string } | null> {
  return deps.db.transaction(async tx => {
    await lockSeed(tx)
    if (!(await isEmptyStore(tx))) return null
    await deps.prices.replaceIn(tx, DEFAULT_PRICES)
    await deps.senders.createPlatformIn(tx, { name: 'Posthorn', isDefault: true })
    await addSandbox(tx, deps)
    const { testKey } = await addDemo(tx, deps)
    return { testKey }
  })
}

function addSandbox(tx: Db, deps: SeedDeps) {
  return deps.connections.createIn(tx, {
    provider: SANDBOX,
    name: 'Sandbox',
    channels: [...CHANNELS],
    priorityOrder: SANDBOX_PRIORITY,
  })
}

function addDemo(tx: Db, deps: SeedDeps) {
  return deps.accounts.createIn(tx, {
    name: 'Demo',
    homeCountry: 'US',
    currency: 'USD',
    phone: { number: '+12025550100', verified: true },
    plan: { allowsScheduling: true, pool: [{ channels: ['email_user'], limit: 100 }] },
    balance: 100,
  })
}

/** Prices to start with, until the operator replaces them. The same numbers in each currency. */
const DEFAULT_PRICES: PriceInput[] = ['USD', 'EUR', 'GBP'].flatMap(currency =>
  usualPrices().map(price => ({ ...price, currency })),
)

type Price = Omit<PriceInput, 'currency'>

function usualPrices(): Price[] {
  return [
    ...anywhere({
      local_sms: 0.01,
      int_sms: 0.08,
      official_chatapp: 0.03,
      user_chatapp_session: 0.005,
      botapp_bot: 0.001,
      email_user: 0.001,
    }),
    to('local_sms', 'US', 0.0079),
    to('int_sms', 'US', 0.0079),
    to('int_sms', 'GB', 0.04),
    to('int_sms', 'DE', 0.09),
    to('int_sms', 'IN', 0.03),
    { ...to('official_chatapp', '*', 0.02), messageType: 'otp' },
  ]
}

function anywhere(prices: Record<Channel, number>): Price[] {
  return CHANNELS.map(channel => to(channel, '*', prices[channel]))
}

function to(channel: Channel, country: string, price: number): Price {
  return { channel, country, price }
}
