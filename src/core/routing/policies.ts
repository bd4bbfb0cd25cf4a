import type { ProviderPolicy } from '../../channels/provider.ts'
import type { ProviderMessagePolicy } from '../../contract/message.ts'
import type { AccountId } from '../../lib/ids.ts'
import type { ConnectionSnapshot, ConnectionSnapshots } from '../connections/snapshot.ts'

export type Policies = { list(accountId: AccountId): Promise<ProviderMessagePolicy[]> }

type Policed = ReadonlyMap<string, { policy: ProviderPolicy }>

export function createPolicies(deps: { connections: ConnectionSnapshots; providers: Policed }): Policies {
  return {
    list: async accountId => listPolicies(await deps.connections.forAccount(accountId), deps.providers),
  }
}

/** What `GET /messages/policies` says: one entry per connection and channel that the account can use. */
function listPolicies(
  connections: readonly ConnectionSnapshot[],
  providers: Policed,
): ProviderMessagePolicy[] {
  return connections.flatMap(connection => {
    const policy = providers.get(connection.provider)?.policy
    if (!policy) return []
    return connection.channels.map(channel => ({
      providerKey: connection.provider,
      channel,
      enabled: connection.enabled,
      allowedTypes: [...connection.allowedTypes],
      sendModeByType: { ...connection.sendModeByType },
      requiresApprovedTemplate: policy.requiresApprovedTemplate,
      supportsUserSender: policy.supportsUserSender,
      supportsSystemSenderFallback: policy.supportsSystemSenderFallback,
      priorityOrder: connection.priorityOrder,
      retryPolicy: { ...connection.retryPolicy },
    }))
  })
}
