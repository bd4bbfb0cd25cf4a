import { type Channel, isSms } from '../../contract/enums.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, ConnectionId, Ids } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { keyOf } from './address.ts'
import { deleteByRecipient, findOwners, insertSuppressions, type SuppressionRow } from './store.ts'
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
}

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

  return {
    stop,
    start,
    refused: ({ sender, providerCode, ...message }) =>
      db.transaction(async tx => {
        const [owner] = await findOwners(tx, [{ connectionId: message.connectionId, number: sender }])
        const reason = `The provider refused a message: the recipient has opted out there${providerCode === null ? '' : ` (${providerCode})`}.`
        await stop(tx, [{ ...message, accountId: owner!.accountId }], 'provider', reason)
      }),
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
