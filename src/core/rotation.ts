import type { Db } from '../infra/db.ts'
import { type MasterSeal, SealBroken } from '../infra/seal.ts'
import { fromUuid } from '../lib/ids.ts'
import { tokenContext } from './bots/tokens.ts'
import { changeSealed, rowContext } from './bulk/stored-row.ts'
import { webhookContext } from './callbacks/request.ts'
import { secretFieldContext } from './connections/admin.ts'
import { secretContext } from './outbox/stored-content.ts'
import { totpContext } from './people/authentication.ts'
import { type CellPage, readCells, replaceCell, type SealedColumn } from './rotation-store.ts'
import { callbackContext } from './senders/callback.ts'
import { keyContext } from './sessions/keys.ts'
import { pairingContext } from './sessions/sessions.ts'

/** How many values of a column were sealed again, and how many cannot be opened with any key. */
export type Resealed = { what: string; resealed: number; unreadable: number }

/** Seals a value with the newest key; null if it is already. Throws SealBroken if no key opens it. */
type Reseal = (sealed: Buffer, context: string) => Buffer | null

type ResealedColumn = SealedColumn & {
  what: string
  /** The cell with its values sealed with the newest key; null if nothing changes. */
  renew(value: never, key: readonly string[], reseal: Reseal): Buffer | string | null
}

/** Rows that one statement reads; the sealed values among them are in memory together. */
const PAGE = 5_000

/**
 * Seals with the newest master key what is sealed with another one: row by row, each with a
 * conditional update, while nodes are running. If it is interrupted, run it again. The facts that
 * `checkMasterKey` opens at start come last: until they are renewed, no node starts without the earlier key.
 */
export async function rotateMasterKey(db: Db, seal: MasterSeal): Promise<Resealed[]> {
  const reseal: Reseal = (sealed, context) =>
    seal.isNewest(sealed) ? null : seal.seal(seal.open(sealed, context), context)

  async function resealColumn(place: ResealedColumn): Promise<Resealed> {
    const totals = { what: place.what, resealed: 0, unreadable: 0 }
    let after: string[] | null = null
    do {
      const page: CellPage<never> = await readCells<never>(db, place, seal.keyId, after, PAGE)
      for (const cell of page.cells) {
        const renewed = tryReseal(place, cell.value, cell.key)
        if (renewed === UNREADABLE) totals.unreadable++
        else if (renewed && (await replaceCell(db, place, cell, renewed as never))) totals.resealed++
      }
      after = page.next
    } while (after)
    return totals
  }

  function tryReseal(place: ResealedColumn, value: never, key: readonly string[]) {
    try {
      return place.renew(value, key, reseal)
    } catch (error) {
      if (error instanceof SealBroken) return UNREADABLE
      throw error
    }
  }

  /** Repeats until a walk changes nothing: a value that changed during one walk is left to the next. */
  async function resealUntilUnchanged(place: ResealedColumn): Promise<Resealed> {
    const totals = await resealColumn(place)
    for (let more = totals.resealed; more > 0; ) {
      more = (await resealColumn(place)).resealed
      totals.resealed += more
    }
    return totals
  }

  const all: Resealed[] = []
  for (const place of COLUMNS) all.push(await resealUntilUnchanged(place))
  return all
}

const UNREADABLE = Symbol('neither key opens it')

/** A column with one sealed value per cell, bound to a context that is made from the row's key. */
function singleValueColumn(
  what: string,
  table: string,
  column: string,
  key: readonly string[],
  contextOf: (key: readonly string[]) => string,
): ResealedColumn {
  return { what, table, column, key, renew: (value, of, reseal) => reseal(value, contextOf(of)) }
}

const OWNED = ['account_id', 'id']
const webhook = ([, id]: readonly string[]) => webhookContext(fromUuid('whk', id!))
const person = ([id]: readonly string[]) => totpContext(fromUuid('usr', id!))

/** All columns with sealed values. */
const COLUMNS: readonly ResealedColumn[] = [
  {
    what: 'secrets of connections',
    table: 'connections',
    column: 'secrets',
    key: OWNED,
    condition: 'secrets is not null',
    renew: renewFields,
  },
  singleValueColumn('tokens of bots', 'bots', 'token', OWNED, ([, id]) => tokenContext(fromUuid('bot', id!))),
  singleValueColumn('secrets of webhooks', 'webhook_endpoints', 'secret', OWNED, webhook),
  singleValueColumn('previous secrets of webhooks', 'webhook_endpoints', 'previous_secret', OWNED, webhook),
  singleValueColumn('secrets of sender callbacks', 'sms_senders', 'webhook_secret', OWNED, ([, id]) =>
    callbackContext(fromUuid('snd', id!)),
  ),
  singleValueColumn('second factors', 'users', 'totp_secret', ['id'], person),
  singleValueColumn('unconfirmed second factors', 'users', 'totp_pending', ['id'], person),
  singleValueColumn('pairings of web sessions', 'web_sessions', 'pairing', OWNED, ([, id]) =>
    pairingContext(fromUuid('cnn', id!)),
  ),
  singleValueColumn(
    'keys of web sessions',
    'web_session_keys',
    'value',
    ['account_id', 'session_id', 'kind', 'key_id'],
    ([, id, kind, keyId]) => keyContext(fromUuid('cnn', id!), kind!, keyId!),
  ),
  {
    what: 'codes in bulk jobs',
    table: 'bulk_rows',
    column: 'body',
    key: ['account_id', 'job_id', 'n'],
    condition: `body like '[%'`,
    renew: (body, [, id], reseal) =>
      changeSealed(body, sealed => reseal(sealed, rowContext(fromUuid('job', id!)))),
  },
  singleValueColumn(
    'texts and codes of unsent messages',
    'outbox',
    'secret',
    ['account_id', 'message_id'],
    ([, id]) => secretContext(fromUuid('msg', id!)),
  ),
  singleValueColumn('keys of the database itself', 'store_facts', 'value', ['name'], ([name]) => name!),
]

/** Each field of a connection's secrets is sealed separately; some may be sealed with the newest key already. */
function renewFields(secrets: Buffer, [, id]: readonly string[], reseal: Reseal): Buffer | null {
  const fields = Object.entries(JSON.parse(secrets.toString()) as Record<string, string>)
  const renewed = fields.map(([field, sealed]) => {
    const changed = reseal(Buffer.from(sealed, 'base64'), secretFieldContext(fromUuid('cnn', id!), field))
    return [field, changed?.toString('base64') ?? sealed] as const
  })
  const same = renewed.every(([, sealed], at) => sealed === fields[at]![1])
  return same ? null : Buffer.from(JSON.stringify(Object.fromEntries(renewed)))
}
