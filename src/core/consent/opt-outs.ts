import { type Channel, isSms } from '../../contract/enums.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import type { AccountId, ConnectionId, Ids } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { addressKeyOf } from './address.ts'
import { publishSuppressionEvents } from './events.ts'
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

/** An opt-out or opt-in of a recipient, by themselves or reported by a provider. */
export type Decision = {
  /** The account whose number the recipient wrote to; `PLATFORM` for a number that accounts share. */
  accountId: AccountId
  connectionId: ConnectionId
  channel: Channel
  /** In the form of `Recipient.address`. */
  recipient: string
}

export type OptOuts = {
  /** Adds suppressions, within the caller's transaction. */
  stop(db: Db, decisions: readonly Decision[], source: 'stop' | 'provider', reason: string): Promise<void>
  /** Removes suppressions that `stop` made; those that the account made by the API stay. */
  start(db: Db, decisions: readonly Decision[]): Promise<void>
  /** A provider refused a message because its recipient has opted out at the provider. */
  refused(message: RefusedMessage): Promise<void>
  /** The same for messages that the provider had taken at first, by its ids, which may not be stored yet. */
  refusedLater(reports: readonly OptOutReport[]): Promise<void>
  /** Applies parked reports whose message is known now; returns how many. */
  applyParked(): Promise<number>
  /** Deletes parked reports that never matched a message. */
  sweepParked(): Promise<void>
}

export type RefusedMessage = {
  accountId: AccountId
  connectionId: ConnectionId
  channel: Channel
  recipient: string
  /** The sender as in the message. */
  sender: string | null
  providerCode: string | null
}

type Reasoned = Decision & { reason: string }

const MAX_AT_ONCE = 500
/** How long a report stays parked: a submit is answered long before, or never. */
const PARKED_MS = DAY_MS

/** A STOP by SMS holds for both SMS channels, which differ only in the country. */
const SMS: readonly Channel[] = ['local_sms', 'int_sms']

export function createOptOuts({ db, clock, ids }: { db: Database; clock: Clock; ids: Ids }): OptOuts {
  function stop(
    tx: Db,
    decisions: readonly Decision[],
    source: 'stop' | 'provider',
    reason: string,
  ): Promise<void> {
    return add(
      tx,
      decisions.map(decision => ({ ...decision, reason })),
      source,
    )
  }

  /** In one statement for all reasons, so that concurrent calls do not deadlock. */
  async function add(tx: Db, decisions: readonly Reasoned[], source: 'stop' | 'provider'): Promise<void> {
    if (decisions.length === 0) return
    const rows = decisions.flatMap(decision =>
      suppressionsOf(decision).map(place => ({
        ...place,
        id: ids.next('sup'),
        source,
        reason: decision.reason,
      })),
    )
    await publishSuppressionEvents(tx, ids, clock.now(), 'created', await insertSuppressions(tx, rows))
  }

  async function start(tx: Db, decisions: readonly Decision[]): Promise<void> {
    if (decisions.length === 0) return
    const gone = await deleteByRecipient(tx, decisions.flatMap(suppressionsOf))
    await publishSuppressionEvents(tx, ids, clock.now(), 'deleted', gone)
  }

  async function refused(tx: Db, messages: readonly RefusedMessage[]): Promise<void> {
    const owners = await findOwners(
      tx,
      messages.map(({ accountId, connectionId, sender }) => ({
        connectionId,
        number: sender,
        sentBy: accountId,
      })),
    )
    const decisions = messages.map((message, at) => ({
      ...message,
      accountId: owners[at]!.accountId,
      reason: reasonOf(message),
    }))
    await add(tx, decisions, 'provider')
  }

  async function applyParked(tx: Db): Promise<number> {
    const messages = await takeParkedOptOuts(tx, MAX_AT_ONCE)
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

function reasonOf({ providerCode }: RefusedMessage): string {
  const code = providerCode === null ? '' : ` (${providerCode})`
  return `The provider refused a message: the recipient has opted out there${code}.`
}

function suppressionsOf({
  accountId,
  connectionId,
  channel,
  recipient,
}: Decision): Omit<SuppressionRow, 'id' | 'source' | 'reason'>[] {
  const channels = isSms(channel) ? SMS : [channel]
  return channels.map(each => ({
    accountId,
    recipient,
    key: addressKeyOf(recipient),
    channel: each,
    connectionId: accountId === PLATFORM ? connectionId : null,
  }))
}
