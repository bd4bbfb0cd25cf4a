import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Turn } from '../../../src/core/fraud/guard.ts'
import type { AcceptRow } from '../../../src/core/messages/hot-store.ts'
import {
  endVerifications,
  RESENDS,
  type ResendRow,
  STARTS,
  type StartRow,
  VERIFICATION_OPERATION,
} from '../../../src/core/verification/accept-store.ts'
import { createCodes, type VerificationId } from '../../../src/core/verification/codes.ts'
import {
  type CheckRow,
  checkCodes,
  readVerification,
  readVerificationOf,
} from '../../../src/core/verification/store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { systemClock, toIso } from '../../../src/lib/clock.ts'
import { type AccountId, createIds, toUuid, withPrefix } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { disableAutovacuum } from '../../support/autovacuum.ts'
import { createTestDatabase, isServerBefore, type TestDatabase } from '../../support/database.ts'
import { lookUntil } from '../../support/look-until.ts'
import { acceptRow } from '../../support/message-rows.ts'

const NOW = Date.now()
const MINUTE_MS = 60_000
const NODE = 1
const CODE = '042917'
const WRONG = '000000'

let database: TestDatabase
let db: Db
const random = createRandom()
const ids = createIds(systemClock, random)
const codes = createCodes({ random, seal: createSeal(Buffer.alloc(32, 5), random) })
const connectionId = ids.next('cnn')
const account = ids.next('acc')
const poor = ids.next('acc')

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  await addWallet(account, 1_000_000_000)
  await addWallet(poor, 15)
})
afterAll(() => database.drop())

async function addWallet(id: AccountId, balance: number): Promise<void> {
  await db.query({
    name: 'stores_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, $2, $2)',
    values: [toUuid(id), balance],
  })
}

let phones = 0
const nextKey = () => `+1202555${7_000 + phones++}`

function markOf(code: string, accountId = account): Buffer {
  return codes.digest({ accountId, mode: 'live' }, code)
}

function startRow(recipient: string, more: Partial<AcceptRow> = {}): StartRow {
  const id = ids.next('msg')
  const row = acceptRow(
    { accountId: account, id, connectionId, dueAt: NOW },
    { recipient, messageType: 'otp', ...more },
  )
  const verificationId = withPrefix('ver', id)
  return {
    ...row,
    start: {
      verificationId,
      recipientKey: recipient,
      codeDigest: () => markOf(CODE, row.accountId),
      validityMinutes: 10,
      startedAt: NOW,
      request: null,
      messages: [id],
      turn: null,
    },
  }
}

/** Limits the recipient to one code within ten minutes, unless `more` says otherwise. */
function withTurn(row: StartRow, more: Partial<Turn> = {}): StartRow {
  const turn = { person: row.recipient, sends: 1, windowMinutes: 10, strict: true, ...more }
  return { ...row, start: { ...row.start, turn } }
}

function accept(rows: readonly StartRow[], repeated = false) {
  return STARTS.accept(db, NODE, NOW, sorted(rows), repeated)
}

function sorted<Row extends AcceptRow>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => (a.accountId + a.id < b.accountId + b.id ? -1 : 1))
}

async function started(): Promise<{ id: VerificationId; to: string; row: StartRow }> {
  const to = nextKey()
  const row = startRow(to)
  expect(await accept([row])).toEqual([{ kind: 'accepted' }])
  return { id: row.start.verificationId, to, row }
}

function byId(id: VerificationId, code: string): CheckRow {
  return {
    accountId: account,
    live: true,
    id,
    recipientKey: null,
    codeDigest: markOf(code),
    checkId: ids.next('req'),
  }
}

function byNumber(to: string, code: string): CheckRow {
  const codeMark = markOf(code)
  return {
    accountId: account,
    live: true,
    id: null,
    recipientKey: to,
    codeDigest: codeMark,
    checkId: ids.next('req'),
  }
}

async function kinds(rows: readonly CheckRow[], nowMs = NOW): Promise<string[]> {
  return (await checkCodes(db, nowMs, rows)).map(({ kind }) => kind)
}

/** Database sessions that wait for a lock. */
async function countBlocked(): Promise<number> {
  const { rows } = await db.query({
    name: 'count_blocked',
    text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return rows.length
}

/** Does the work, which must wait, before the transaction commits that stores the starts. */
async function whileStored<T>(rows: readonly StartRow[], work: () => Promise<T>): Promise<T> {
  let done: Promise<T> | undefined
  await database.db.transaction(async tx => {
    await STARTS.accept(tx, NODE, NOW, sorted(rows), false)
    done = work()
    await lookUntil(countBlocked, blocked => blocked === 1, 10_000)
  })
  return done!
}

describe('a start', () => {
  test('that is refused for its balance or its idempotency key does not supersede the earlier one', async () => {
    const to = nextKey()
    const claim = { operation: 2, key: 'one', bodyHash: Buffer.of(1) }
    const first = startRow(to, { accountId: poor, claim })
    expect(await accept([first])).toEqual([{ kind: 'accepted' }])
    const [dry] = await accept([startRow(to, { accountId: poor })])
    const [known] = await accept([startRow(to, { accountId: poor, claim })])
    expect([dry!.kind, known!.kind]).toEqual(['insufficient', 'exists'])
    const head = await readVerificationOf(db, { accountId: poor, live: true, recipientKey: to }, NOW)
    expect(head).toMatchObject({ id: first.start.verificationId, current: true })
  })

  test('that nothing covers keeps its idempotency key only if no other channel is left', async () => {
    const claim = { operation: VERIFICATION_OPERATION, key: 'covered by none', bodyHash: Buffer.alloc(32) }
    const costly = startRow(nextKey(), { accountId: poor, amount: 100, claim })
    const more = { ...costly, start: { ...costly.start, messages: [costly.id, ids.next('msg')] } }
    const keys = async () => {
      const { rows } = await db.query<{ status: number }>({
        name: 'keys_of_poor',
        text: `select status from idempotency where account_id = $1 and key = $2`,
        values: [toUuid(poor), claim.key],
      })
      return rows.map(({ status }) => status)
    }
    expect(await accept([more])).toEqual([{ kind: 'insufficient' }])
    expect(await keys()).toEqual([])
    expect(await accept([costly])).toEqual([{ kind: 'insufficient' }])
    expect(await keys()).toEqual([402])
  })

  test('takes a turn of its recipient, and is not stored if no turn is free', async () => {
    const [to, other] = [nextKey(), nextKey()]
    const first = withTurn(startRow(to))
    expect(await accept([first])).toEqual([{ kind: 'accepted' }])
    expect(await accept([first], true)).toEqual([{ kind: 'accepted' }])
    // The other rows of the call are accepted: each has its own verdict.
    const rows = sorted([withTurn(startRow(to)), withTurn(startRow(other)), startRow(to)])
    const verdicts = await accept(rows)
    expect(verdicts.map(({ kind }) => kind)).toEqual(
      rows.map(row => (row.start.turn?.person === to ? 'late' : 'accepted')),
    )
    const refused = rows.find(row => row.start.turn?.person === to)!
    expect(await readVerification(db, account, refused.start.verificationId, NOW)).toBeNull()
    const watched = withTurn(startRow(to), { strict: false })
    expect(await accept([watched])).toEqual([{ kind: 'accepted', watched: true }])
    // Codes that were sent without a turn count as well.
    expect(await accept([withTurn(startRow(to), { sends: 4 })])).toEqual([{ kind: 'accepted' }])
    expect(await accept([withTurn(startRow(to), { sends: 4 })])).toMatchObject([{ kind: 'late' }])
  })

  test('that waits for a concurrent one has its turn after it', async () => {
    const to = nextKey()
    const verdicts = await whileStored([withTurn(startRow(to))], () => accept([withTurn(startRow(to))]))
    expect(verdicts).toMatchObject([{ kind: 'late' }])
  })

  test('that is refused for another reason, or withdrawn, takes no turn', async () => {
    const to = nextKey()
    const claim = { operation: 2, key: 'turn', bodyHash: Buffer.of(1) }
    await accept([startRow(nextKey(), { accountId: poor, claim })])
    for (const more of [{ claim }, { amount: 1_000 }]) {
      const [verdict] = await accept([withTurn(startRow(to, { accountId: poor, ...more }))])
      expect(['exists', 'insufficient']).toContain(verdict!.kind)
    }
    const taken = withTurn(startRow(to))
    await accept([taken])
    expect([...(await STARTS.withdraw(database.db, NOW, [taken]))]).toEqual([taken.id])
    for (const accountId of [account, poor]) {
      expect(await accept([withTurn(startRow(to, { accountId, amount: 0 }))])).toEqual([{ kind: 'accepted' }])
    }
  })

  test('is current if it is the last of several for one recipient in one flush', async () => {
    const to = nextKey()
    const rows = sorted([startRow(to), startRow(to), startRow(to)])
    await accept(rows)
    const current = await Promise.all(
      rows.map(
        async ({ start }) => (await readVerification(db, account, start.verificationId, NOW))!.current,
      ),
    )
    expect(current).toEqual([false, false, true])
  })

  test('that is repeated after a lost response is recognised and supersedes nothing', async () => {
    const { to, row } = await started()
    const later = startRow(to)
    await accept([later])
    expect(await accept([row], true)).toEqual([{ kind: 'accepted' }])
    const head = await readVerificationOf(db, { accountId: account, live: true, recipientKey: to }, NOW)
    expect(head!.id).toBe(later.start.verificationId)
  })

  test('that is withdrawn or ends unsent makes the earlier one current, unless there is a later one', async () => {
    const { id: first, to } = await started()
    const second = startRow(to, { begun: false, status: 'queued' })
    await accept([second])
    expect(await STARTS.withdraw(database.db, NOW, [second])).toEqual(new Set([second.id]))
    expect((await readVerification(db, account, second.start.verificationId, NOW))!.status).toBe('failed')
    expect(await kinds([byId(first, WRONG)])).toEqual(['wrong'])

    const third = startRow(to)
    const fourth = startRow(to)
    await accept([third])
    await accept([fourth])
    await endVerifications(db, NOW, [{ accountId: account, id: third.start.verificationId }])
    expect(await kinds([byNumber(to, CODE)])).toEqual(['right'])
    expect((await readVerification(db, account, fourth.start.verificationId, NOW))!.status).toBe('verified')
  })
})

test('if later starts end unsent, in any order, the last one that was sent is current', async () => {
  const end = ({ start }: StartRow) =>
    endVerifications(db, NOW, [{ accountId: account, id: start.verificationId }])
  // Two later starts, neither of which is sent.
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const { id: first, to } = await started()
    const later = [startRow(to), startRow(to)]
    for (const row of later) await accept([row])
    for (const at of order) await end(later[at]!)
    expect(await kinds([byNumber(to, WRONG)]), String(order)).toEqual(['wrong'])
    expect((await readVerification(db, account, first, NOW))!.tries).toBe(1)
  }
  // Accepted in one flush: the earlier of the two was sent.
  const { to } = await started()
  const [earlier, last] = sorted([startRow(to), startRow(to)])
  await accept([earlier!, last!])
  await end(last!)
  await kinds([byNumber(to, CODE)])
  expect((await readVerification(db, account, earlier!.start.verificationId, NOW))!.status).toBe('verified')
})

describe('a check', () => {
  test('that is repeated after a lost response counts once and has the same result', async () => {
    const { id, to } = await started()
    const wrong = byId(id, WRONG)
    const first = await checkCodes(db, NOW, [wrong])
    expect(await checkCodes(db, NOW, [wrong])).toEqual(first)
    expect(first).toMatchObject([{ kind: 'wrong', tries: 1 }])
    const right = byNumber(to, CODE)
    const verified = await checkCodes(db, NOW, [right])
    expect(await checkCodes(db, NOW + 5, [right])).toEqual(verified)
    expect(verified).toMatchObject([
      { kind: 'right', id, tries: 1, verifiedAt: NOW, recipient: to, country: 'US' },
    ])
    expect(await kinds([byId(id, CODE)])).toEqual(['used'])
  })

  test('that is repeated after others have counted meanwhile counts once and has the same result', async () => {
    const { id, to } = await started()
    const wrongs = [byId(id, WRONG), byNumber(to, WRONG), byId(id, WRONG)]
    for (const wrong of wrongs) expect(await kinds([wrong])).toEqual(['wrong'])
    for (const wrong of wrongs)
      expect(await checkCodes(db, NOW, [wrong])).toMatchObject([{ kind: 'wrong', tries: 3 }])
    const right = byId(id, CODE)
    expect(await kinds([right])).toEqual(['right'])
    for (const wrong of wrongs) expect(await kinds([wrong])).toEqual(['wrong'])
    expect(await kinds([right])).toEqual(['right'])
  })

  test('that names the id and another recipient uses no try and verifies nothing', async () => {
    const { id, to } = await started()
    const of = (recipientKey: string, code: string) => ({ ...byId(id, code), recipientKey })
    const other = nextKey()
    for (let n = 0; n < 5; n++) expect(await kinds([of(other, WRONG)])).toEqual(['disagrees'])
    expect(await kinds([of(other, CODE)])).toEqual(['disagrees'])
    const [first] = await checkCodes(db, NOW, [of(to, WRONG)])
    expect(first).toMatchObject({ kind: 'wrong', tries: 1 })
    expect(await kinds([of(to, CODE)])).toEqual(['right'])
  })

  test('with a key of the other mode uses no try', async () => {
    const { id } = await started()
    for (let n = 0; n < 5; n++)
      expect(await kinds([{ ...byId(id, WRONG), live: false }])).toEqual(['missing'])
    expect((await checkCodes(db, NOW, [byId(id, WRONG)]))[0]).toMatchObject({ kind: 'wrong', tries: 1 })
  })

  test('is postponed to the next call if the same call checks its verification already', async () => {
    const { id, to } = await started()
    expect(await kinds([byId(id, WRONG), byNumber(to, CODE), byId(id, CODE)])).toEqual([
      'wrong',
      'later',
      'later',
    ])
  })

  describe('that names the recipient', () => {
    /** Checks a code; `change` is made between the look-up of the verification and the count. */
    async function checkDuring(change: (tx: Db) => Promise<unknown>, row: CheckRow) {
      const { check } = await database.db.transaction(async tx => {
        // Lets the check look up, and not count.
        await tx.query({ name: 'hold_verifications', text: 'lock table verifications in share mode' })
        const check = checkCodes(db, NOW, [row])
        await lookUntil(countBlocked, blocked => blocked === 1, 10_000)
        await change(tx)
        return { check }
      })
      return check
    }

    test('comes before a start that is accepted meanwhile', async () => {
      const { id, to } = await started()
      const accept = (tx: Db) => STARTS.accept(tx, NODE, NOW, [startRow(to)], false)
      expect(await checkDuring(accept, byNumber(to, CODE))).toMatchObject([{ kind: 'right', id }])
      expect(await kinds([byNumber(to, WRONG)])).toEqual(['wrong'])
    })

    test('is postponed if the verification ends unsent meanwhile', async () => {
      const { id, to } = await started()
      const later = startRow(to)
      await accept([later])
      const end = (tx: Db) =>
        endVerifications(tx, NOW, [{ accountId: account, id: later.start.verificationId }])
      expect(await checkDuring(end, byNumber(to, CODE))).toMatchObject([{ kind: 'later' }])
      expect(await checkCodes(db, NOW, [byNumber(to, CODE)])).toMatchObject([{ kind: 'right', id }])
    })
  })

  test('succeeds until the millisecond at which the code expires, and only once', async () => {
    const { id, to } = await started()
    const expiresAt = NOW + 10 * MINUTE_MS
    expect(await kinds([byId(id, CODE)], expiresAt)).toEqual(['expired'])
    const racing = await Promise.all(
      Array.from({ length: 20 }, (_, at) => kinds([byNumber(to, CODE)], expiresAt - (at % 2))),
    )
    // A check before the expiry may find the code used; a later one finds it expired or used.
    expect(racing.flat().filter(kind => kind === 'right')).toHaveLength(1)
    racing.forEach(([kind], at) => {
      expect(at % 2 === 1 ? ['right', 'used'] : ['expired', 'used']).toContain(kind)
    })
  })

  test('has its own reason for a refusal, with many checks in one call', async () => {
    const used = await started()
    const spent = await started()
    const open = await started()
    const live = await started()
    const other = await started()
    const superseded = await started()
    await accept([startRow(superseded.to)])
    await kinds([byId(used.id, CODE)])
    for (let n = 0; n < 5; n++) await kinds([byId(spent.id, WRONG)])
    expect(
      await kinds([
        byId(used.id, CODE),
        byId(spent.id, CODE),
        byNumber(spent.to, CODE),
        byId(superseded.id, CODE),
        byId(withPrefix('ver', ids.next('msg')), CODE),
        { ...byId(live.id, CODE), live: false },
        { ...byId(other.id, CODE), recipientKey: used.to },
        byNumber('+12025550000', CODE),
        byId(open.id, CODE),
      ]),
    ).toEqual([
      'used',
      'exhausted',
      'exhausted',
      'missing',
      'missing',
      'missing',
      'disagrees',
      'missing',
      'right',
    ])
  })

  test('digests a code by account and mode, and stores a hash that fits its own verification only', async () => {
    const owner = { accountId: account, mode: 'live' as const }
    const marks = [
      codes.digest(owner, CODE),
      codes.digest({ ...owner, mode: 'test' }, CODE),
      codes.digest({ ...owner, accountId: poor }, CODE),
      codes.digest(owner, `${CODE}0`),
    ].map(mark => mark.toString('hex'))
    expect(new Set(marks).size).toBe(marks.length)
    const { id: one } = await started()
    const { id: other } = await started()
    const { rows } = await db.query<{ hash: string }>({
      name: 'kept_hashes',
      text: `select encode(code_hash, 'hex') as hash from verifications where id = any ($1::uuid[])`,
      values: [[toUuid(one), toUuid(other)]],
    })
    expect(new Set([...marks, ...rows.map(({ hash }) => hash)]).size).toBe(marks.length + 2)
    // A hash fits no other verification, even if it is copied there in the database.
    await db.query({
      name: 'swap_hashes',
      text: `update verifications v set code_hash = o.code_hash from verifications o
              where v.id = $1 and o.id = $2 and o.account_id = v.account_id`,
      values: [toUuid(one), toUuid(other)],
    })
    expect(await kinds([byId(one, CODE)])).toEqual(['wrong'])
  })
})

describe('a resend', () => {
  function resendRow(of: StartRow, resends: number, more: Partial<AcceptRow> = {}): ResendRow {
    const { start, ...row } = startRow(of.recipient, more)
    return {
      ...row,
      resend: {
        codeDigest: start.codeDigest,
        verificationId: of.start.verificationId,
        resends,
        messages: [row.id],
        turn: null,
        sentAt: NOW,
        expiresAt: NOW + 10 * MINUTE_MS,
        resendAt: NOW + MINUTE_MS,
      },
    }
  }
  const resend = (row: ResendRow, repeated = false) => RESENDS.accept(db, NODE, NOW, [row], repeated)

  test('is accepted once for each count of resends, and recognised when it is repeated', async () => {
    const { id, row } = await started()
    const first = resendRow(row, 0)
    expect(await resend(first)).toEqual([{ kind: 'accepted' }])
    expect(await resend(first, true)).toEqual([{ kind: 'accepted' }])
    expect(await resend(resendRow(row, 0))).toEqual([{ kind: 'stale' }])
    expect(await readVerification(db, account, id, NOW)).toMatchObject({
      resends: 1,
      messages: [row.id, first.id],
    })
  })

  test('takes a turn of its recipient unless it is stale, and is refused if none is free', async () => {
    const { row } = await started()
    const asking = (resends: number): ResendRow => {
      const made = resendRow(row, resends)
      return { ...made, resend: { ...made.resend, turn: withTurn(row, { sends: 2 }).start.turn } }
    }
    expect(await resend(asking(5))).toEqual([{ kind: 'stale' }])
    const first = asking(0)
    expect(await resend(first)).toEqual([{ kind: 'accepted' }])
    expect(await resend(first, true)).toEqual([{ kind: 'accepted' }])
    const late = [{ kind: 'late', freeAtMs: NOW + 10 * MINUTE_MS }]
    expect(await resend(asking(1))).toEqual(late)
    // One that another has forestalled is not made, and lacks no turn.
    expect(await resend(asking(0))).toEqual([{ kind: 'stale' }])
    expect(await accept([withTurn(startRow(row.recipient), { sends: 2 })])).toEqual(late)
  })

  test('that waits for a start for its recipient has its turn after it', async () => {
    const row = startRow('waits@example.com')
    await accept([row])
    const { turn } = withTurn(row, { sends: 2 }).start
    const waits = resendRow(row, 0)
    const again = { ...waits, resend: { ...waits.resend, turn } }
    expect(await whileStored([startRow('waits+1@example.com')], () => resend(again))).toMatchObject([
      { kind: 'late' },
    ])
    // A start for the same address has superseded it.
    expect(await whileStored([startRow(row.recipient)], () => resend(again))).toEqual([{ kind: 'stale' }])
  })

  test('of a used, superseded or unknown verification is stale; without balance it changes nothing', async () => {
    const used = await started()
    await kinds([byId(used.id, CODE)])
    const superseded = await started()
    await accept([startRow(superseded.to)])
    const nobodys = startRow(nextKey())
    for (const row of [used.row, superseded.row, nobodys]) {
      expect(await resend(resendRow(row, 0))).toEqual([{ kind: 'stale' }])
    }
    const { id, row } = await started()
    expect(await resend(resendRow(row, 0, { amount: 2_000_000_000 }))).toEqual([{ kind: 'insufficient' }])
    expect(await readVerification(db, account, id, NOW)).toMatchObject({ resends: 0, messages: [row.id] })
    expect(await kinds([byId(id, CODE)])).toEqual(['right'])
  })

  test('is accepted once a later start for the recipient has ended unsent', async () => {
    const { to, row } = await started()
    const later = startRow(to)
    await accept([later])
    expect(await resend(resendRow(row, 0))).toEqual([{ kind: 'stale' }])
    await endVerifications(db, NOW, [{ accountId: account, id: later.start.verificationId }])
    expect(await resend(resendRow(row, 0))).toEqual([{ kind: 'accepted' }])
  })

  test('keeps the verification pending if its first code turns out to be unsent', async () => {
    const { id, row } = await started()
    await resend(resendRow(row, 0))
    await endVerifications(db, NOW, [{ accountId: account, id }])
    expect((await readVerification(db, account, id, NOW))!.status).toBe('pending')
  })

  test('that is withdrawn does not count, and the next one is accepted at once', async () => {
    const { id, row } = await started()
    const unconfirmed = resendRow(row, 0, { begun: false, status: 'queued' })
    await resend(unconfirmed)
    await RESENDS.withdraw(database.db, NOW, [unconfirmed])
    expect(await readVerification(db, account, id, NOW)).toMatchObject({ resends: 0, resendAt: NOW })
    expect(await resend(resendRow(row, 0))).toEqual([{ kind: 'accepted' }])
  })
})

describe('the statements of verifications', () => {
  async function scanned(work: (tx: Db) => Promise<unknown>): Promise<string[]> {
    return database.db.transaction(async tx => {
      const before = await countScans(tx)
      await work(tx)
      const after = await countScans(tx)
      return [...after].filter(([name, scans]) => scans > (before.get(name) ?? 0)).map(([name]) => name)
    })
  }

  async function countScans(tx: Db): Promise<Map<string, number>> {
    const { rows } = await tx.query<{ name: string; scans: number }>({
      name: 'count_scans',
      // A thousand rows read by an index count like a scan.
      text: `select relname as name, (seq_scan + coalesce(idx_tup_fetch, 0) / 1000)::integer as scans from pg_stat_xact_user_tables
              where relname ~ '^(verification|messages|idempotency|outbox|wallets|pools|accounts|events)'`,
    })
    return new Map(rows.map(({ name, scans }) => [name, scans]))
  }

  test.skipIf(isServerBefore(17))('scan no table, neither empty nor with many rows', async () => {
    await disableAutovacuum(db, ['verifications_other'])
    for (const rows of [0, 10_000]) {
      if (rows > 0) {
        await db.query({
          name: 'fill_verifications',
          timeoutMs: 30_000,
          text: `insert into verifications (account_id, id, live, validity_minutes, recipient, recipient_key, message_id,
                   channel, started_at, expires_at, resend_at, code_hash, messages, started_with)
                 select $3, uuid_at($2), true, 10, '+1' || n, '+1' || n, gen_random_uuid(), 'local_sms', $2, $2, $2,
                   '', '{}', 1
                   from generate_series(1, $1::integer) n`,
          values: [rows, toIso(NOW), toUuid(account)],
        })
      }
      const batch = sorted([startRow(nextKey()), startRow(nextKey()), startRow(nextKey())])
      const found = {
        start: await scanned(tx => STARTS.accept(tx, NODE, NOW, batch, false)),
        again: await scanned(tx => STARTS.accept(tx, NODE, NOW, batch, true)),
        check: await scanned(tx =>
          checkCodes(tx, NOW, [
            byId(batch[0]!.start.verificationId, WRONG),
            byNumber(batch[1]!.recipient, CODE),
            byNumber('+12025550000', CODE),
          ]),
        ),
        read: await scanned(tx => readVerification(tx, account, batch[2]!.start.verificationId, NOW)),
        readOf: await scanned(tx =>
          readVerificationOf(tx, { accountId: account, live: true, recipientKey: batch[1]!.recipient }, NOW),
        ),
        readOfNone: await scanned(tx =>
          readVerificationOf(tx, { accountId: account, live: true, recipientKey: '+12025550000' }, NOW),
        ),
        end: await scanned(tx =>
          endVerifications(tx, NOW, [{ accountId: account, id: batch[2]!.start.verificationId }]),
        ),
      }
      expect(found).toEqual({
        start: [],
        again: [],
        check: [],
        read: [],
        readOf: [],
        readOfNone: [],
        end: [],
      })
    }
  })
})
