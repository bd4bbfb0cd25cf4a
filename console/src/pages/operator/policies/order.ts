import type { AdminPolicy, Channel } from '../../../../../sdk/index.ts'

/** A connection as far as its place in the order goes. */
export type OrderedConnection = {
  id: string
  name: string
  provider: string
  accountId: string | null
  enabled: boolean
  order: number
  channels: Channel[]
}

/** The gap between neighbours, so that a connection can be moved between them without changing others. */
const STEP = 10

/** The connections of the policies, in the order in which they are tried. */
export function orderedConnections(policies: readonly AdminPolicy[]): OrderedConnection[] {
  const placed = new Map<string, OrderedConnection>()
  for (const policy of policies) {
    const known = placed.get(policy.connectionId)
    if (known) known.channels.push(policy.channel)
    else
      placed.set(policy.connectionId, {
        id: policy.connectionId,
        name: policy.connectionName,
        provider: policy.providerKey,
        accountId: policy.accountId,
        enabled: policy.enabled,
        order: policy.priorityOrder,
        channels: [policy.channel],
      })
  }
  return [...placed.values()]
}

/** The fewest changes that move the connection at `from` to `to`; none where one of these places does not exist. */
export function orderChanges(
  placed: readonly OrderedConnection[],
  from: number,
  to: number,
): { id: string; order: number }[] {
  if (placed[from] === undefined || placed[to] === undefined) return []
  const wanted = placed.filter((_, at) => at !== from)
  wanted.splice(to, 0, placed[from])
  const changes: { id: string; order: number }[] = []
  let before = Number.NEGATIVE_INFINITY
  for (const { id, order } of wanted) {
    const next = order > before ? order : before + STEP
    if (next !== order) changes.push({ id, order: next })
    before = next
  }
  return changes
}

/** The channels by their first enabled connection: the order in which routing tries them. */
export function channelOrder(policies: readonly AdminPolicy[]): Channel[] {
  return [...new Set(policies.filter(({ enabled }) => enabled).map(({ channel }) => channel))]
}
