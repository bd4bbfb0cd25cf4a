import { type Channel, isSms } from '../../contract/enums.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, ConnectionId, Ids } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { keyOf } from './address.ts'
import {
  deleteByRecipient,
  findOwners,
  findReported,
  insertSuppressions,
  type SuppressionRow,
} from './store.ts'
import { tellSuppressions } from './tell.ts'

/** What a recipient, or a provider in their name, decided. */
export type Decision = {
  /** Whose number it was said to; `PLATFORM` for one that accounts share. */
  accountId: AccountId
  connectionId: ConnectionId
  channel: Channel
  /** In the spelling of `Recipient.address`. */
  recipient: string
}

export type OptOuts = {
  /** Suppresses within a transaction of the caller's. */
  stop(db: Db, decisions: readonly Decision[], source: 'stop' | 'provider', reason: string): Promise<void>
  /** Ends what `stop` made; what the account itself asked for stays. */
  start(db: Db, decisions: readonly Decision[]): Promise<void>
  /** A provider refused a message because its recipient had opted out there. */
  refused(message: Refused): Promise<void>
  /** The same, of messages that it had taken at first; by its own ids. */
  refusedLater(connectionId: ConnectionId, receipts: readonly LateRefusal[]): Promise<void>
}

export type LateRefusal = { providerId: string; providerCode: string | null }

export type Refused = {
  connectionId: ConnectionId
  channel: Channel
  recipient: string
  /** As the message named it. */
  sender: string | null
  providerCode: string | null
}

/** No border divides what somebody says by SMS. */
const SMS: readonly Channel[] = ['local_sms', 'int_sms']

export function createOptOuts({ db, clock, ids }: { db: Database; clock: Clock; ids: Ids }): OptOuts {
  async function stop(
    tx: Db,
    decisions: readonly Decision[],
    source: 'stop' | 'provider',
    reason: string,
  ): Promise<void> {
    if (decisions.length === 0) return
    const rows = decisions.flatMap(placesOf).map(place => ({ ...place, id: ids.next('sup'), source, reason }))
    await tellSuppressions(tx, ids, clock.now(), 'created', await insertSuppressions(tx, rows))
  }

  async function start(tx: Db, decisions: readonly Decision[]): Promise<void> {
    if (decisions.length === 0) return
    const gone = await deleteByRecipient(tx, decisions.flatMap(placesOf))
    await tellSuppressions(tx, ids, clock.now(), 'deleted', gone)
  }

  async function refused(tx: Db, messages: readonly Refused[], providerCode: string | null): Promise<void> {
    const owners = await findOwners(
      tx,
      messages.map(({ connectionId, sender }) => ({ connectionId, number: sender })),
    )
    const decisions = messages.map((message, at) => ({ ...message, accountId: owners[at]!.accountId }))
    const code = providerCode === null ? '' : ` (${providerCode})`
    const reason = `The provider refused a message: the recipient has opted out there${code}.`
    await stop(tx, decisions, 'provider', reason)
  }

  return {
    stop,
    start,
    refused: message => db.transaction(tx => refused(tx, [message], message.providerCode)),
    async refusedLater(connectionId, receipts) {
      if (receipts.length === 0) return
      const providerCode = receipts[0]!.providerCode
      await db.transaction(async tx => {
        const ids = receipts.map(({ providerId }) => providerId)
        const messages = await findReported(tx, connectionId, ids)
        const all = messages.map(message => ({ ...message, connectionId, providerCode }))
        if (all.length > 0) await refused(tx, all, providerCode)
      })
    },
  }
}

function placesOf({
  accountId,
  connectionId,
  channel,
  recipient,
}: Decision): Omit<SuppressionRow, 'id' | 'source' | 'reason'>[] {
  const channels = isSms(channel) ? SMS : [channel]
  return channels.map(each => ({
    accountId,
    recipient,
    key: keyOf(recipient),
    channel: each,
    connectionId: accountId === PLATFORM ? connectionId : null,
  }))
}
