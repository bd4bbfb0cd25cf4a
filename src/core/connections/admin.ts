import type {
  ConnectionCreate,
  ConnectionRemoved,
  ConnectionState,
  ConnectionTest,
  ConnectionUpdate,
  ConnectionView,
} from '../../contract/admin.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
import type { Channel } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { createFaults, type Faults } from '../../contract/faults.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { Database, Db } from '../../infra/db.ts'
import { type Seal, SealBroken } from '../../infra/seal.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, type Ids, isId, timeOf } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { PLATFORM } from '../accounts/platform.ts'
import {
  type Config,
  checkConfig,
  type Explain,
  mergeConfig,
  type ProviderFacts,
  type ProviderFactsByKey,
  splitSecrets,
  withDefaults,
} from './config.ts'
import { changePolicy, policyOf } from './policy.ts'
import {
  type ConnectionRow,
  deleteConnection,
  insertConnection,
  listConnections,
  selectConnection,
  selectConnectionForUpdate,
  updateConnection,
} from './store.ts'

/**
 * Connections, for the operator. Secrets are never returned, except by `openConfig`.
 * Throws a Problem: VALIDATION_ERROR, NOT_FOUND or CONFLICT.
 */
export type ConnectionAdmin = {
  create(input: ConnectionCreate): Promise<ConnectionView>
  /** `create` within the caller's transaction, without `state`; links do not take notice of it. */
  createIn(db: Db, input: ConnectionCreate): Promise<StoredView>
  update(id: string, input: ConnectionUpdate): Promise<ConnectionView>
  remove(id: string): Promise<ConnectionRemoved>
  /** The newest first. */
  list(query: PageQuery): Promise<Page<ConnectionView>>
  /** Tests the stored configuration against the provider. */
  test(id: string): Promise<ConnectionTest>
  /**
   * The whole configuration with secrets in the clear and defaults filled in, for
   * opening the link. Null if there is no such connection, or this version does not
   * have its provider.
   */
  openConfig(id: ConnectionId): Promise<OpenConfig | null>
}

/** A connection without `state`, which is not stored. */
type StoredView = Omit<ConnectionView, 'state'>

export type OpenConfig = { provider: string; config: Config; revision: number }

export type ConnectionAdminDeps = {
  db: Database
  ids: Ids
  seal: Pick<Seal, 'seal' | 'open'>
  providers: ProviderFactsByKey
  explain: Explain
  accountExists(id: AccountId): Promise<boolean>
  testLink(id: ConnectionId): Promise<ConnectionTest>
  /** The state of this node's link. */
  stateOf(id: ConnectionId): ConnectionState
  /** Invalidates what was learned with the earlier configuration; called in the transaction that changes it. */
  onConfigChanged(tx: Db, connection: Pick<ConnectionRow, 'id' | 'accountId'>): Promise<void>
  /** Resolves when this node uses the committed change, so that the caller can send at once; a failure repeats itself. */
  applied(): Promise<void>
  log: Pick<Log, 'warn'>
}

/** Connections with a lower number are tried first. */
const DEFAULT_PRIORITY = 100

export function createConnectionAdmin(deps: ConnectionAdminDeps): ConnectionAdmin {
  const { db, ids, seal, providers } = deps

  async function createIn(tx: Db, input: ConnectionCreate): Promise<StoredView> {
    const provider = providerOf(input.provider)
    const accountId = await readOwner(input.accountId)
    const faults = createFaults()
    checkChannels(input.channels, provider, faults)
    const config = checkConfig(provider.config, mergeConfig({}, input.config ?? {}), deps.explain, faults)
    const policy = changePolicy(policyOf(provider.policy), input, provider, faults)
    faults.check()

    const id = ids.next('cnn')
    const row: ConnectionRow = {
      id,
      accountId,
      provider: provider.key,
      name: input.name,
      channels: [...new Set(input.channels)],
      ...sealConfig(id, config, provider),
      enabled: input.enabled ?? true,
      priorityOrder: input.priorityOrder ?? DEFAULT_PRIORITY,
      ...provider.policy.retryPolicy,
      ...input.retryPolicy,
      ...policy,
      revision: 1,
    }
    await insertConnection(tx, row)
    return view(row)
  }

  function providerOf(key: string): ProviderFacts {
    const provider = providers.get(key)
    if (!provider) throw invalid('provider', `must be one of ${[...providers.keys()].sort().join(', ')}`)
    return provider
  }

  async function readOwner(accountId: string | undefined): Promise<AccountId> {
    if (accountId === undefined) return PLATFORM
    if (isId('acc', accountId) && (await deps.accountExists(accountId))) return accountId
    throw new Problem('NOT_FOUND', 'Account not found', {
      details: [{ path: 'accountId', message: 'Account not found' }],
    })
  }

  async function update(id: string, input: ConnectionUpdate): Promise<StoredView> {
    return db.transaction(async tx => {
      const before = (await selectConnectionForUpdate(tx, readId(id))) ?? throwUnknownConnection()
      const provider = providerOf(before.provider)
      const faults = createFaults()
      if (input.channels) checkChannels(input.channels, provider, faults)
      const config = input.config && changedConfig(before, input.config, provider, faults)
      const policy = changePolicy(before, input, provider, faults)
      faults.check()
      const after: ConnectionRow = {
        ...before,
        name: input.name ?? before.name,
        channels: input.channels ? [...new Set(input.channels)] : before.channels,
        ...(config ? sealConfig(before.id, config, provider) : {}),
        enabled: input.enabled ?? before.enabled,
        priorityOrder: input.priorityOrder ?? before.priorityOrder,
        maxAttempts: input.retryPolicy?.maxAttempts ?? before.maxAttempts,
        backoffMs: input.retryPolicy?.backoffMs ?? before.backoffMs,
        ...policy,
        revision: before.revision + 1,
      }
      await updateConnection(tx, after)
      if (config) await deps.onConfigChanged(tx, after)
      return view(after)
    })
  }

  function changedConfig(
    before: ConnectionRow,
    given: Config,
    provider: ProviderFacts,
    faults: Faults,
  ): Config {
    const merged = mergeConfig({ ...before.config, ...openKeptSecrets(before, given, faults) }, given)
    return checkConfig(provider.config, merged, deps.explain, faults)
  }

  /** The secrets that the update keeps. Adds a fault for each that the master key cannot open: it must be given again. */
  function openKeptSecrets(before: ConnectionRow, given: Config, faults: Faults): Config {
    const kept = Object.entries(before.secrets ?? {}).filter(([field]) => !Object.hasOwn(given, field))
    const opened = kept.flatMap(([field, sealed]) => {
      try {
        return [[field, openSecret(before.id, field, sealed)]]
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error
        faults.add(
          `config.${field}`,
          'cannot be decrypted with the current master key: give it again, or null to remove it',
        )
        return []
      }
    })
    return Object.fromEntries(opened)
  }

  function sealConfig(id: ConnectionId, config: Config, provider: ProviderFacts) {
    const { open, secret } = splitSecrets(config, provider.secrets)
    const sealed = Object.entries(secret).map(([field, value]) => [
      field,
      seal.seal(JSON.stringify(value), secretFieldContext(id, field)).toString('base64'),
    ])
    return { config: open, secrets: sealed.length === 0 ? null : Object.fromEntries(sealed) }
  }

  function openSecrets(row: ConnectionRow): Config {
    const sealed = Object.entries(row.secrets ?? {})
    return Object.fromEntries(sealed.map(([field, value]) => [field, openSecret(row.id, field, value)]))
  }

  function openSecret(id: ConnectionId, field: string, sealed: string): unknown {
    return JSON.parse(seal.open(Buffer.from(sealed, 'base64'), secretFieldContext(id, field)).toString())
  }

  async function openConfig(id: ConnectionId): Promise<OpenConfig | null> {
    const row = await selectConnection(db, id)
    const provider = row && providers.get(row.provider)
    if (!row || !provider) return null
    const config = withDefaults(provider.config, { ...row.config, ...openSecrets(row) })
    return { provider: row.provider, config, revision: row.revision }
  }

  async function list({ limit = DEFAULT_LIMIT, cursor }: PageQuery): Promise<Page<ConnectionView>> {
    const before = readIdCursor('cnn', cursor)
    const rows = await listConnections(db, before, limit + 1)
    return pageById(rows, limit, row => withState(view(row)))
  }

  async function test(id: string): Promise<ConnectionTest> {
    const row = (await selectConnection(db, readId(id))) ?? throwUnknownConnection()
    return deps.testLink(row.id)
  }

  async function remove(id: string): Promise<ConnectionRemoved> {
    const connectionId = readId(id)
    const accountId = await deleteConnection(db, connectionId, SANDBOX)
    if (accountId) return { id, accountId: ownerOf(accountId), deleted: true }
    if (await selectConnection(db, connectionId)) throw sandboxNotRemovable()
    return throwUnknownConnection()
  }

  function withState(stored: StoredView): ConnectionView {
    return { ...stored, state: deps.stateOf(stored.id as ConnectionId) }
  }

  async function applied<T>(change: Promise<T>): Promise<T> {
    const result = await change
    // The change is stored. Whoever was told that it failed would make it again: a second connection to the same provider.
    await deps
      .applied()
      .catch(error =>
        deps.log.warn({ err: error }, 'a change of a connection is not in use on this node yet'),
      )
    return result
  }

  return {
    create: async input => withState(await applied(createIn(db, input))),
    createIn,
    update: async (id, input) => withState(await applied(update(id, input))),
    remove: id => applied(remove(id)),
    list,
    test,
    openConfig,
  }
}

function view(row: ConnectionRow): StoredView {
  return {
    id: row.id,
    accountId: ownerOf(row.accountId),
    provider: row.provider,
    name: row.name,
    channels: row.channels,
    config: row.config,
    secretsSet: Object.keys(row.secrets ?? {}),
    enabled: row.enabled,
    priorityOrder: row.priorityOrder,
    retryPolicy: { maxAttempts: row.maxAttempts, backoffMs: row.backoffMs },
    allowedTypes: row.allowedTypes,
    sendModeByType: row.sendModeByType,
    createdAt: toIso(timeOf(row.id)),
  }
}

/** As the API shows it: null for a connection of every account. */
function ownerOf(accountId: AccountId): AccountId | null {
  return accountId === PLATFORM ? null : accountId
}

function checkChannels(channels: readonly Channel[], provider: ProviderFacts, faults: Faults): void {
  channels.forEach((channel, at) => {
    if (provider.channels.includes(channel)) return
    faults.add(`channels[${at}]`, `${provider.key} supports only ${provider.channels.join(', ')}`)
  })
}

/** The context that binds a sealed secret to its connection and field. */
export function secretFieldContext(id: ConnectionId, field: string): string {
  return `connection:${id}:${field}`
}

function readId(id: string): ConnectionId {
  return isId('cnn', id) ? id : throwUnknownConnection()
}

function sandboxNotRemovable(): Problem {
  return new Problem(
    'CONFLICT',
    'Test keys send through the sandbox connection: it can be disabled for live keys, but not removed.',
  )
}

function throwUnknownConnection(): never {
  throw new Problem('NOT_FOUND', 'Connection not found')
}
