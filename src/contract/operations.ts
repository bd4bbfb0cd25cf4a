import { type Static, Type } from 'typebox'
import { CHANNELS, MESSAGE_TYPES } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'
import { ProviderMessagePolicy } from './message.ts'

/** Schemas of nodes and queues, for the operator. */

const Count = Type.Integer({ minimum: 0 })

export const NodeView = Type.Object({
  id: Type.Integer(),
  host: Type.String(),
  startedAt: IsoTime,
  seenAt: IsoTime,
  alive: Type.Boolean(),
  current: Type.Boolean({ description: 'The node that responds' }),
  holds: Type.Integer({ minimum: 0, description: 'Messages that the node holds; counted up to 10,000' }),
  lanes: Type.Array(
    Type.Object({ accountId: Type.String(), accountName: Type.String(), fence: Type.Integer() }),
    { description: 'Accounts whose bulk lane the node holds' },
  ),
})
export type NodeView = Static<typeof NodeView>

/** One connection's lane on the node that answers. */
export const LinkView = Type.Object({
  connectionId: Type.String(),
  provider: Type.String(),
  link: Type.Enum(['closed', 'connecting', 'up', 'down'] as const),
  detail: Type.String(),
  circuit: Type.Enum(['closed', 'open', 'half_open'] as const),
  inFlight: Count,
  waiting: Count,
  resting: Type.Boolean(),
})
export type LinkView = Static<typeof LinkView>

export const NodesView = Type.Object({
  nodes: Type.Array(NodeView),
  links: Type.Array(LinkView, { description: 'The links of the node that responds; each node has its own' }),
})
export type NodesView = Static<typeof NodesView>

export const QueueView = Type.Object({
  connectionId: Type.String(),
  name: nullable(Type.String({ description: 'Null if the connection was removed' })),
  provider: nullable(Type.String()),
  channels: Type.Array(Type.Enum(CHANNELS)),
  due: Type.Integer({ minimum: 0, description: 'Waiting and due; counted up to 10,000' }),
  scheduled: Type.Integer({ minimum: 0, description: 'Due later; counted up to 10,000' }),
  unknown: Type.Integer({ minimum: 0, description: 'Counted up to 10,000' }),
  lagMs: Type.Integer({ minimum: 0, description: 'How long the oldest due message has been due' }),
})
export type QueueView = Static<typeof QueueView>

export const QueuesView = Type.Object({
  connections: Type.Array(QueueView),
  deliveries: Type.Object({
    waiting: Type.Integer({ minimum: 0, description: 'Webhook deliveries; counted up to 10,000' }),
  }),
  bulk: Type.Object({ running: Count, queued: Count, paused: Count, validating: Count }),
  parkedReceipts: Type.Integer({ minimum: 0, description: 'Counted up to 10,000' }),
})
export type QueuesView = Static<typeof QueuesView>

export const UnknownMessage = Type.Object({
  messageId: Type.String(),
  accountId: Type.String(),
  accountName: Type.String(),
  channel: Type.Enum(CHANNELS),
  messageType: Type.Enum(MESSAGE_TYPES),
  to: Type.String(),
  provider: Type.String(),
  connectionId: Type.String(),
  attempt: Type.Integer(),
  detail: nullable(Type.String()),
  cost: Type.Number(),
  currency: Type.String(),
  unknownAt: IsoTime,
  closesAt: Type.String({ format: 'date-time', description: 'When the message counts as sent' }),
  asks: Type.Integer({ description: 'How often the provider was asked for the outcome' }),
})
export type UnknownMessage = Static<typeof UnknownMessage>

export const AdminPolicy = Type.Object({
  connectionId: Type.String(),
  connectionName: Type.String(),
  accountId: nullable(Type.String()),
  ...ProviderMessagePolicy.properties,
})
export type AdminPolicy = Static<typeof AdminPolicy>

export const ProviderView = Type.Object({
  key: Type.String(),
  channels: Type.Array(Type.Enum(CHANNELS)),
  config: Type.Record(Type.String(), Type.Unknown(), {
    description: "JSON Schema 2020-12 of a connection's `config`",
  }),
  secrets: Type.Array(Type.String({ description: 'Secret fields of `config`; they are never returned' })),
  policy: Type.Object({
    allowedTypes: Type.Array(Type.Enum(MESSAGE_TYPES)),
    sendModeByType: Type.Record(Type.String(), Type.String()),
    requiresApprovedTemplate: Type.Boolean(),
    retryPolicy: Type.Object({ maxAttempts: Type.Integer(), backoffMs: Type.Integer() }),
  }),
})
export type ProviderView = Static<typeof ProviderView>
