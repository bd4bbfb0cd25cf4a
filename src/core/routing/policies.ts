import type { ProviderPolicy } from '../../channels/provider.ts'
import type { Caller } from '../../contract/caller.ts'
import type { ProviderMessagePolicy } from '../../contract/message.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { ConnectionSnapshot, ConnectionSnapshots } from '../connections/snapshot.ts'

export type Policies = { list(caller: Pick<Caller, 'account' | 'mode'>): Promise<ProviderMessagePolicy[]> }

export type PoliciesDeps = {
  connections: ConnectionSnapshots
  providers: ProviderPolicies
  /** Whether live keys may fall back on the sandbox where there is no real connection. */
  sandboxForLive: boolean
}

type ProviderPolicies = ReadonlyMap<string, { policy: ProviderPolicy }>

export function createPolicies({ connections, providers, sandboxForLive }: PoliciesDeps): Policies {
  const allowedTypes = [...(providers.get(SANDBOX)?.policy.allowedTypes ?? [])]
  const forTestKeys = { enabled: true, allowedTypes }

  return {
    async list({ account, mode }) {
      const policies = listPolicies(await connections.forAccount(account.id), providers)
      if (mode === 'test') return policies.map(policy => sandboxAs(forTestKeys, policy))
      return sandboxForLive ? policies : policies.map(policy => sandboxAs({ enabled: false }, policy))
    },
  }
}

/**
 * For a live key the sandbox is disabled if it is turned off in either place; for a test key it is always
 * enabled, for every message type.
 */
function sandboxAs(
  change: Partial<ProviderMessagePolicy>,
  policy: ProviderMessagePolicy,
): ProviderMessagePolicy {
  return policy.providerKey === SANDBOX ? { ...policy, ...change } : policy
}

/** The answer of `GET /messages/policies`: one entry per connection and channel that the account can use. */
function listPolicies(
  connections: readonly ConnectionSnapshot[],
  providers: ProviderPolicies,
): ProviderMessagePolicy[] {
  return connections.flatMap(connection => {
    const policy = providers.get(connection.provider)?.policy
    return policy ? viewPolicies(connection, policy) : []
  })
}

/** One entry per channel; `policy` is the provider's. */
export function viewPolicies(
  connection: ConnectionSnapshot,
  policy: ProviderPolicy,
): ProviderMessagePolicy[] {
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
}
