import { type Channel, isSms } from '../../contract/enums.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import type { AccountId, ConnectionId, Ids } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { keyOf } from './address.ts'
import {
  deleteByRecipient,
  findOwners,
  insertSuppressions,
  type OptOutReport,
  parkOptOuts,
  type SuppressionRow,
  sweepParkedOptOuts,
  takeParkedOptOuts,
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
  /** The same, of messages that it had taken at first; by its own ids, which may be known only later. */
  refusedLater(reports: readonly OptOutReport[]): Promise<void>
  /** Looks for the messages of reports that came before their submit's answer; how many were found. */
  applyParked(): Promise<number>
  /** Forgets reports that belong to no message of ours. */
  sweepParked(): Promise<void>
}

export type Refused = {
  connectionId: ConnectionId
  channel: Channel
  recipient: string
  /** As the message named it. */
  sender: string | null
  providerCode: string | null
}

const MOST_AT_ONCE = 500
/** A submit is answered long before, or never. */
const PARKED_MS = DAY_MS

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

  async function refused(tx: Db, messages: readonly Refused[]): Promise<void> {
    for (const [code, group] of Map.groupBy(messages, ({ providerCode }) => providerCode)) {
      await refusedFor(tx, group, code)
    }
  }

  async function refusedFor(
    tx: Db,
    messages: readonly Refused[],
    providerCode: string | null,
  ): Promise<void> {
    const owners = await findOwners(
      tx,
      messages.map(({ connectionId, sender }) => ({ connectionId, number: sender })),
    )
    const decisions = messages.map((message, at) => ({ ...message, accountId: owners[at]!.accountId }))
    const code = providerCode === null ? '' : ` (${providerCode})`
    const reason = `The provider refused a message: the recipient has opted out there${code}.`
    await stop(tx, decisions, 'provider', reason)
  }

  async function applyParked(tx: Db): Promise<number> {
    const messages = await takeParkedOptOuts(tx, MOST_AT_ONCE)
    await refused(tx, messages)
    return messages.length
  }

  return {
    stop,
    start,
    refused: message => db.transaction(tx => refused(tx, [message])),
    async refusedLater(reports) {
      if (reports.length === 0) return
      await db.transaction(async tx => {
        await parkOptOuts(tx, clock.now(), reports)
        await applyParked(tx)
      })
    },
    applyParked: () => db.transaction(applyParked),
    sweepParked: () => sweepParkedOptOuts(db, clock.now() - PARKED_MS),
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
