import type { ProviderPolicy } from '../../channels/provider.ts'
import type { ConnectionState } from '../../contract/admin.ts'
import {
  DEFAULT_LIMIT,
  type Page,
  type PageQuery,
  pageOf,
  readTimeCursor,
  writeCursor,
} from '../../contract/cursor.ts'
import type {
  AdminPolicy,
  LinkView,
  NodesView,
  ProviderView,
  QueuesView,
  UnknownMessage,
} from '../../contract/operations.ts'
import type { Db } from '../../infra/db.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { ProviderFacts, ProviderFactsByKey } from '../connections/config.ts'
import { snapshotOf } from '../connections/snapshot.ts'
import { byPriority, type ConnectionRow, selectAllConnections } from '../connections/store.ts'
import { viewPolicies } from '../routing/policies.ts'
import { countOtherQueues, listNodes, listQueues, listUnknown, type UnknownRow } from './operations-store.ts'

/** The state of nodes, queues and links for the operator: read from small tables and this node's memory. */
export type Operations = {
  nodes(): Promise<NodesView>
  queues(): Promise<QueuesView>
  /** Unknown messages of all accounts, those with the earliest deadline first. */
  unknown(query: PageQuery): Promise<Page<UnknownMessage>>
  /** Policies of all connections, in the order in which they are tried. */
  policies(): Promise<AdminPolicy[]>
  providers(): ProviderView[]
}

/** A connection's lane on this node. */
export type LaneFacts = {
  connectionId: ConnectionId
  provider: string
  busy: number
  held: number
  resting: boolean
}

export type OperationsDeps = {
  db: Db
  clock: Clock
  providers: ProviderFactsByKey
  /** This node's number. */
  node(): number
  lanes(): readonly LaneFacts[]
  stateOf(id: ConnectionId): ConnectionState
}

export function createOperations(deps: OperationsDeps): Operations {
  const { db, clock } = deps

  function links(): LinkView[] {
    return deps.lanes().map(({ connectionId, provider, busy, held, resting }) => ({
      connectionId,
      provider,
      ...deps.stateOf(connectionId),
      inFlight: busy,
      waiting: held,
      resting,
    }))
  }

  return {
    async nodes() {
      const nodes = await listNodes(db)
      const current = deps.node()
      return {
        nodes: nodes.map(({ startedAtMs, seenAtMs, ...node }) => ({
          ...node,
          startedAt: toIso(startedAtMs),
          seenAt: toIso(seenAtMs),
          current: node.id === current,
        })),
        links: links(),
      }
    },

    async queues() {
      const [connections, others] = await Promise.all([listQueues(db, clock.now()), countOtherQueues(db)])
      const { deliveriesDue, parkedReceipts, ...bulk } = others
      return { connections, deliveries: { waiting: deliveriesDue }, bulk, parkedReceipts }
    },

    async unknown({ limit = DEFAULT_LIMIT, cursor }) {
      const rows = await listUnknown(db, cursor === undefined ? null : readTimeCursor(cursor), limit + 1)
      return pageOf(rows, limit, viewUnknown, row => writeCursor(String(row.closesAtMs), row.messageId))
    },

    async policies() {
      const rows = (await selectAllConnections(db)).sort(byPriority)
      return rows.flatMap(row => viewForOperator(row, deps.providers.get(row.provider)?.policy))
    },

    providers: () => [...deps.providers.values()].map(viewProvider),
  }
}

function viewUnknown({ recipient, amount, unknownAtMs, closesAtMs, ...row }: UnknownRow): UnknownMessage {
  return {
    ...row,
    to: recipient,
    cost: fromMicros(amount),
    unknownAt: toIso(unknownAtMs),
    closesAt: toIso(closesAtMs),
  }
}

function viewForOperator(row: ConnectionRow, policy: ProviderPolicy | undefined): AdminPolicy[] {
  // This version does not have the provider.
  if (!policy) return []
  const of = {
    connectionId: row.id,
    connectionName: row.name,
    accountId: row.accountId === PLATFORM ? null : row.accountId,
  }
  return viewPolicies(snapshotOf(row), policy).map(view => ({ ...of, ...view }))
}

function viewProvider({ key, channels, config, secrets, policy }: ProviderFacts): ProviderView {
  return {
    key,
    channels: [...channels],
    // As plain JSON Schema: TypeBox's own properties are keyed by symbols, which JSON drops.
    config: JSON.parse(JSON.stringify(config)) as Record<string, unknown>,
    secrets: [...secrets],
    policy: {
      allowedTypes: [...policy.allowedTypes],
      sendModeByType: { ...policy.sendModeByType },
      requiresApprovedTemplate: policy.requiresApprovedTemplate,
      retryPolicy: { ...policy.retryPolicy },
    },
  }
}
