import type { Actor } from '../../contract/actor.ts'
import type {
  AccountCreate,
  AccountUpdate,
  AdminAccount,
  AdminAccountWithKeys,
  AdminKey,
  KeyCreate,
} from '../../contract/admin.ts'
import { readAmount } from '../../contract/amount.ts'
import type { ApiKeyRotate } from '../../contract/api-key.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
import { PERMISSIONS } from '../../contract/enums.ts'
import { Problem } from '../../contract/errors.ts'
import { createFaults } from '../../contract/faults.ts'
import { checkIdempotencyKey } from '../../contract/idempotency-key.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Database, Db } from '../../infra/db.ts'
import { canonicalHash } from '../../lib/canonical-json.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, type Ids, isId } from '../../lib/ids.ts'
import { nextMonthUtcMs } from '../../lib/months.ts'
import type { Phones } from '../../lib/phone.ts'
import { assignPools, newAccountFields, updatedAccountFields } from './fields.ts'
import { listKeys, revokeKey } from './key-store.ts'
import { type NewKeys, OVERLAP_SECONDS, readExpiry, unknownKey } from './new-key.ts'
import { checkVerificationTemplate, type IsCodeTemplate } from './own-account.ts'
import {
  type AccountRequest,
  type AccountRow,
  accountExists,
  insertAccount,
  insertAccountRequest,
  isAccountKeyTaken,
  listAccounts,
  replacePools,
  selectAccount,
  selectAccountForUpdate,
  selectAccountRequest,
  selectPlan,
  updateAccount,
} from './store.ts'
import { viewAccount, viewKey } from './views.ts'

export type CreatedAccount = { account: AdminAccount; liveKey: string; testKey: string }
/** `replayed`: an earlier request with the idempotency key created the account; its API keys are not shown again. */
export type AccountCreateResult =
  | { created: CreatedAccount; replayed: false }
  | { created: { account: AdminAccount; liveKey: null; testKey: null }; replayed: true }
export type CreatedKey = { key: AdminKey; apiKey: string }

/** Accounts and keys, for the operator. Throws a Problem: VALIDATION_ERROR or NOT_FOUND, unless said otherwise. */
export type AccountAdmin = {
  /** Creates an account with its wallet, pools and two owner keys. Only this answer contains the keys in the clear. */
  create(input: AccountCreate): Promise<CreatedAccount>
  /** `create`, once per idempotency key. IDEMPOTENCY_KEY_CONFLICT if the key was used with another body. */
  createOnce(input: AccountCreate, key: string): Promise<AccountCreateResult>
  /** `create` within the caller's transaction. */
  createIn(db: Db, input: AccountCreate): Promise<CreatedAccount>
  update(id: string, input: AccountUpdate): Promise<AdminAccountWithKeys>
  read(id: string): Promise<AdminAccountWithKeys>
  /** The newest first; `q` is part of a name, or a whole id. */
  list(query: PageQuery & { q?: string }): Promise<Page<AdminAccount>>
  createKey(accountId: string, input: KeyCreate, by: Actor): Promise<CreatedKey>
  rotateKey(
    accountId: string,
    keyId: string,
    input: ApiKeyRotate,
    by: Actor,
  ): Promise<CreatedKey & { previous: AdminKey }>
  /** Changes nothing if the key is revoked already. */
  revokeKey(accountId: string, keyId: string): Promise<AdminKey>
}

export type AccountAdminDeps = {
  db: Database
  clock: Clock
  ids: Ids
  newKeys: NewKeys
  /** Makes a change take effect on this node at once; the database notifies the other nodes. */
  changes: Pick<Changes, 'publish'>
  phones: Phones
  /** From billing: opens a wallet, with the opening balance as its first credit. */
  openWallet(db: Db, accountId: AccountId, balanceMicros: number): Promise<void>
  isCodeTemplate: IsCodeTemplate
}

export function createAccountAdmin(deps: AccountAdminDeps): AccountAdmin {
  const { db, clock, ids, newKeys, changes, phones } = deps

  async function createOnce(input: AccountCreate, key: string): Promise<AccountCreateResult> {
    const faults = createFaults()
    checkIdempotencyKey(key, faults)
    faults.check()
    const request = { key, bodyHash: canonicalHash(input) }
    return (await replay(request)) ?? (await createWithKey(input, request))
  }

  async function createWithKey(input: AccountCreate, request: AccountRequest): Promise<AccountCreateResult> {
    try {
      const created = await db.transaction(async tx => {
        const made = await createIn(tx, input)
        await insertAccountRequest(tx, request, readAccountId(made.account.id))
        return made
      })
      return { created, replayed: false }
    } catch (error) {
      const replayed = isAccountKeyTaken(error) ? await replay(request) : null
      if (replayed) return replayed
      throw error
    }
  }

  /** The account that an idempotency key created, as it is now, without API keys: only hashes are stored. Else null. */
  async function replay({ key, bodyHash }: AccountRequest): Promise<AccountCreateResult | null> {
    const before = await selectAccountRequest(db, key)
    if (!before) return null
    if (!before.bodyHash.equals(bodyHash)) throw new Problem('IDEMPOTENCY_KEY_CONFLICT')
    const account = viewAccount((await selectAccount(db, before.id))!, clock.now())
    return { created: { account, liveKey: null, testKey: null }, replayed: true }
  }

  async function createIn(tx: Db, input: AccountCreate): Promise<CreatedAccount> {
    const faults = createFaults()
    const plan = await selectPlan(tx, input.plan?.name ?? 'default')
    const fields = newAccountFields(input, plan, phones, faults)
    const balance = readAmount(input.balance ?? 0, 'balance', 0, faults)
    const id = ids.next('acc')
    await checkVerificationTemplate(id, input.verification?.templateId, null, deps.isCodeTemplate, faults)
    faults.check()

    await insertAccount(tx, id, fields)
    await replacePools(tx, id, assignPools(input.plan?.pool ?? [], [], 0), nextMonthUtcMs(clock.now()))
    await deps.openWallet(tx, id, balance)
    const live = await newKeys.add(tx, id, ownerKey('live'), null, null)
    const test = await newKeys.add(tx, id, ownerKey('test'), null, null)
    const account = viewAccount((await selectAccount(tx, id))!, clock.now())
    return { account, liveKey: live.apiKey, testKey: test.apiKey }
  }

  function ownerKey(mode: 'live' | 'test'): KeyCreate {
    return { name: `Owner (${mode})`, mode, role: 'owner', permissions: [...PERMISSIONS] }
  }

  async function update(id: string, input: AccountUpdate): Promise<AdminAccountWithKeys> {
    const accountId = readAccountId(id)
    await db.transaction(async tx => {
      const before = (await selectAccountForUpdate(tx, accountId)) ?? throwUnknownAccount()
      const { name = before.planName } = input.plan ?? {}
      const plan = name === before.planName ? null : await selectPlan(tx, name)
      const faults = createFaults()
      const after = updatedAccountFields(before, input, plan, phones, faults)
      const currentTemplateId = before.verification?.templateId ?? null
      await checkVerificationTemplate(
        accountId,
        input.verification?.templateId,
        currentTemplateId,
        deps.isCodeTemplate,
        faults,
      )
      faults.check()
      rejectCurrencyChange(before, after.currency)
      await updateAccount(tx, accountId, after)
      const wanted = input.plan?.pool
      if (wanted) {
        const pools = assignPools(wanted, before.pools, before.lastPoolId)
        await replacePools(tx, accountId, pools, nextMonthUtcMs(clock.now()))
      }
    })
    changes.publish('accounts', accountId)
    return read(id)
  }

  async function read(id: string): Promise<AdminAccountWithKeys> {
    const accountId = readAccountId(id)
    const row = (await selectAccount(db, accountId)) ?? throwUnknownAccount()
    const keys = await listKeys(db, accountId)
    return { ...viewAccount(row, clock.now()), keys: keys.map(viewKey) }
  }

  async function list({
    limit = DEFAULT_LIMIT,
    cursor,
    q,
  }: PageQuery & { q?: string }): Promise<Page<AdminAccount>> {
    const of = { id: q !== undefined && isId('acc', q) ? q : null, text: q ?? null }
    const rows = await listAccounts(db, of, readIdCursor('acc', cursor), limit + 1)
    const nowMs = clock.now()
    return pageById(rows, limit, row => viewAccount(row, nowMs))
  }

  async function createKey(id: string, input: KeyCreate, by: Actor): Promise<CreatedKey> {
    const accountId = readAccountId(id)
    const expiresAtMs = readExpiry(input.expiresAt, clock.now())
    if (!(await accountExists(db, accountId))) throwUnknownAccount()
    const { key, apiKey } = await newKeys.add(db, accountId, input, expiresAtMs, by)
    return { key: viewKey(key), apiKey }
  }

  async function rotate(
    id: string,
    keyId: string,
    { overlapSeconds = OVERLAP_SECONDS }: ApiKeyRotate,
    by: Actor,
  ) {
    const made = isId('key', keyId) && (await newKeys.rotate(readAccountId(id), keyId, overlapSeconds, by))
    if (!made) throw unknownKey()
    return { key: viewKey(made.key), apiKey: made.apiKey, previous: viewKey(made.previous) }
  }

  async function revoke(id: string, keyId: string): Promise<AdminKey> {
    const accountId = readAccountId(id)
    const key =
      isId('key', keyId) && (await db.transaction(tx => revokeKey(tx, accountId, keyId, clock.now())))
    if (!key) throw unknownKey()
    changes.publish('api_keys', accountId)
    return viewKey(key)
  }

  return {
    create: input => db.transaction(tx => createIn(tx, input)),
    createOnce,
    createIn,
    update,
    read,
    list,
    createKey,
    rotateKey: rotate,
    revokeKey: revoke,
  }
}

/** Throws NOT_FOUND for what is not an account id. */
export function readAccountId(id: string): AccountId {
  return isId('acc', id) ? id : throwUnknownAccount()
}

/** Throws NOT_FOUND. */
export function throwUnknownAccount(): never {
  throw new Problem('NOT_FOUND', 'Account not found')
}

/** Stored amounts have no currency of their own, so a change of currency would change what they are worth. */
function rejectCurrencyChange(before: AccountRow, currency: string): void {
  if (currency === before.currency || before.wallet.credited === 0) return
  throw new Problem('CONFLICT', 'The currency cannot change once the wallet was credited.')
}
