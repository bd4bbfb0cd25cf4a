import type { Links } from '../channels/links.ts'
import type { Provider } from '../channels/provider.ts'
import type { ConnectionState } from '../contract/admin.ts'
import { isVerificationChannel } from '../contract/enums.ts'
import { createAccountAdmin } from '../core/accounts/admin.ts'
import { createKeys } from '../core/accounts/keys.ts'
import { createNewKeys } from '../core/accounts/new-key.ts'
import { createOwnAccount } from '../core/accounts/own-account.ts'
import { createOwnKeys } from '../core/accounts/own-keys.ts'
import { PLATFORM } from '../core/accounts/platform.ts'
import { createAccountReader } from '../core/accounts/reader.ts'
import { createAccountSnapshots } from '../core/accounts/snapshots.ts'
import { accountExists } from '../core/accounts/store.ts'
import { createLedger } from '../core/billing/ledger.ts'
import { createPrices } from '../core/billing/prices.ts'
import { createWallets } from '../core/billing/wallets.ts'
import { createDecisionPublisher } from '../core/callbacks/sender-decisions.ts'
import { createConnectionAdmin } from '../core/connections/admin.ts'
import { createConnectionSnapshots } from '../core/connections/snapshot.ts'
import { createWebhookAddresses } from '../core/connections/webhook-address.ts'
import { channelsOf } from '../core/messages/template-find.ts'
import { createOfficialSenders } from '../core/senders/official.ts'
import { deleteIdentity } from '../core/senders/official-store.ts'
import { createOwnSenders } from '../core/senders/own.ts'
import { createSenderReview } from '../core/senders/review.ts'
import { createSenderSnapshots } from '../core/senders/snapshot.ts'
import { createSessionSnapshots } from '../core/sessions/snapshot.ts'
import { isCodeOnly } from '../core/templates/spec.ts'
import { isTemplateId, selectTemplate } from '../core/templates/store.ts'
import { explainFaults } from '../http/schema-faults.ts'
import { within } from '../lib/clock.ts'
import type { AccountId, ConnectionId } from '../lib/ids.ts'
import type { Foundation } from './foundation.ts'
import { webhookUrlOf } from './webhook-address.ts'

export type AccountRooms = ReturnType<typeof createAccountRooms>

/** Long, since providers may be slow, but the operator waits for it. */
const LINK_TEST_MS = 10_000

/** The links. They belong to the message rooms, which are created after these. */
export type LinkRoom = {
  links: Links
  syncLinks(): Promise<void>
  stateOf(id: ConnectionId): ConnectionState
}

/** Accounts, keys, wallets, prices, connections and senders. */
export function createAccountRooms(
  base: Foundation,
  providers: ReadonlyMap<string, Provider>,
  linkRoom: () => LinkRoom,
) {
  const { db, clock, changes, ids, random, phones, seal, log } = base
  const accounts = createAccountSnapshots({ db, clock, changes })
  const wallets = createWallets({ db, ids })
  const newKeys = createNewKeys({ db, clock, ids, random, changes })
  const applied = (id: AccountId) => changes.publish('accounts', id)
  const isCodeTemplate = async (accountId: AccountId, id: string) => {
    const template = isTemplateId(id) ? await selectTemplate(db, accountId, id) : null
    return template !== null && isCodeOnly(template) && channelsOf(template).some(isVerificationChannel)
  }
  const connections = createConnectionSnapshots({ db, clock, changes })
  const officialSenders = createOfficialSenders({
    db,
    connections,
    sandboxForLive: base.config.sandbox,
    applied: id => changes.publish('official_defaults', id),
  })
  const sendersApplied = (id: AccountId) => changes.publish('sms_senders', id)
  const senderReview = createSenderReview({
    db,
    ids,
    notifyDecision: createDecisionPublisher({ clock, ids }),
    applied: sendersApplied,
  })
  return {
    accounts,
    keys: createKeys({ db, clock, changes, accounts }),
    prices: createPrices({ db, clock, changes }),
    connections,
    officialSenders,
    senders: createSenderSnapshots({ db, clock, changes }),
    sessions: createSessionSnapshots({ db, clock, changes }),
    wallets,
    ledger: createLedger({ db }),
    senderReview,
    ownSenders: createOwnSenders({ db, ids, seal, checkUrl: base.guarded.check, applied: sendersApplied }),
    account: createAccountReader({
      db,
      clock,
      sendersOf: senderReview.ofAccount,
      officialSendersOf: officialSenders.list,
    }),
    ownAccount: createOwnAccount({ db, applied, isCodeTemplate }),
    ownKeys: createOwnKeys({ db, clock, newKeys, changes }),
    accountAdmin: createAccountAdmin({
      db,
      clock,
      ids,
      newKeys,
      changes,
      phones,
      openWallet: wallets.open,
      isCodeTemplate,
    }),
    webhookAddresses: createWebhookAddresses({
      db,
      addressOf: connection => webhookUrlOf(base, connection),
    }),
    connectionAdmin: createConnectionAdmin({
      db,
      ids,
      seal,
      providers,
      explain: explainFaults,
      accountExists: id => accountExists(db, id),
      testLink: id => within(clock, LINK_TEST_MS, signal => linkRoom().links.test(id, signal)),
      stateOf: id => linkRoom().stateOf(id),
      onConfigChanged: (tx, { id, accountId }) => deleteIdentity(tx, { accountId, connectionId: id }),
      async applied() {
        // A change of the platform's clears the caches of all accounts, so the owner need not be known here.
        changes.publish('connections', PLATFORM)
        await linkRoom().syncLinks()
      },
      log,
    }),
  }
}
