import type { Caller } from '../../contract/caller.ts'
import { type Page, pageOf, readIdCursor, writeCursor } from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { restorePlusOfAddress } from '../../contract/filters.ts'
import type {
  SharedSuppressionView,
  SuppressionCreate,
  SuppressionQuery,
  SuppressionView,
} from '../../contract/suppression.ts'
import type { Database } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, type Ids, isId } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { checkReach, type Recipient, readRecipient } from '../routing/recipient.ts'
import { addressKeyOf, displayAddress } from './address.ts'
import { publishSuppressionEvents, viewSuppression } from './events.ts'
import {
  deleteSuppression,
  insertSuppressions,
  listSuppressions,
  type SuppressionRow,
  selectSuppression,
} from './store.ts'

/** The recipients to whom an account sends no marketing. Refusals are Problems: VALIDATION_ERROR, NOT_FOUND. */
export type Suppressions = {
  /** Resolves once stored; from then on it applies on every node. One that exists stays as it is. */
  create(caller: Caller, body: SuppressionCreate): Promise<SuppressionView>
  /** The newest first. */
  list(caller: Caller, query: SuppressionQuery): Promise<Page<SuppressionView>>
  remove(caller: Caller, id: string): Promise<Removed>
  /** Opt-outs that were sent to numbers that accounts share; for the operator. */
  listShared(query: SuppressionQuery): Promise<Page<SharedSuppressionView>>
  removeShared(id: string): Promise<Removed>
}
type Removed = { id: string; deleted: true }

export type SuppressionsDeps = { db: Database; clock: Clock; ids: Ids; phones: Phones }

/** Tries of an insert: an existing suppression may be deleted before it is read, so that the next insert succeeds. */
const MAX_TRIES = 3

export function createSuppressions({ db, clock, ids, phones }: SuppressionsDeps): Suppressions {
  async function create(caller: Caller, body: SuppressionCreate): Promise<SuppressionView> {
    const recipient = readTo(body.to)
    if (body.channel) checkReach(body.channel, recipient, caller.account.homeCountry)
    const row: SuppressionRow = {
      accountId: caller.account.id,
      id: ids.next('sup'),
      recipient: displayAddress(recipient),
      key: addressKeyOf(recipient.address),
      channel: body.channel ?? null,
      connectionId: null,
      source: 'api',
      reason: body.reason ?? null,
    }
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = (await insert(row)) ?? (await selectSuppression(db, row))
      if (found) return viewSuppression(found)
    }
    throw new Problem('CONFLICT', 'The suppression is being removed at this moment. Try again.')
  }

  /** Null where it exists already. */
  function insert(row: SuppressionRow): Promise<SuppressionRow | null> {
    return db.transaction(async tx => {
      const made = await insertSuppressions(tx, [row])
      await publishSuppressionEvents(tx, ids, clock.now(), 'created', made)
      return made[0] ?? null
    })
  }

  function readTo(to: string): Recipient {
    const recipient = readRecipient(to, phones)
    if (recipient) return recipient
    throw invalid('to', 'must be a phone number in E.164, an e-mail address, a group id or a chat id')
  }

  function read(accountId: AccountId, { limit, cursor, to, channel }: SuppressionQuery) {
    const before = readIdCursor('sup', cursor)
    const filter = {
      ...(to !== undefined && { key: addressKeyOf(readTo(restorePlusOfAddress(to)).address) }),
      ...(channel && { channel }),
    }
    return listSuppressions(db, accountId, filter, before, limit + 1)
  }

  function remove(accountId: AccountId, id: string): Promise<Removed> {
    return db.transaction(async tx => {
      const gone = isId('sup', id) ? await deleteSuppression(tx, accountId, id) : null
      if (!gone) throw new Problem('NOT_FOUND', 'Suppression not found')
      await publishSuppressionEvents(tx, ids, clock.now(), 'deleted', [gone])
      return { id, deleted: true }
    })
  }

  return {
    create,
    async list(caller, query) {
      return pageOf(await read(caller.account.id, query), query.limit, viewSuppression, cursorAfter)
    },
    remove: (caller, id) => remove(caller.account.id, id),
    async listShared(query) {
      return pageOf(await read(PLATFORM, query), query.limit, viewShared, cursorAfter)
    },
    removeShared: id => remove(PLATFORM, id),
  }
}

function viewShared(row: SuppressionRow): SharedSuppressionView {
  return { ...viewSuppression(row), connectionId: row.connectionId }
}

function cursorAfter(row: SuppressionRow): string {
  return writeCursor(row.id)
}
