import type { Channel, ProviderMessagePolicy } from '../../../../sdk/index.ts'
import type { Mode } from '../../session/session.ts'

/**
 * The policies of the connections that carry a channel, as a send chooses them (core/connections/carrier.ts). The sandbox
 * takes live messages only where there is no other connection, not where the others are disabled.
 */
export function carriersOf(
  channel: Channel,
  mode: Mode,
  policies: readonly ProviderMessagePolicy[],
): ProviderMessagePolicy[] {
  const own = policies.filter(policy => policy.channel === channel)
  const simulates = mode === 'test' || own.every(isSandbox)
  return own.filter(policy => policy.enabled && isSandbox(policy) === simulates)
}

export function isSandbox({ providerKey }: Pick<ProviderMessagePolicy, 'providerKey'>): boolean {
  return providerKey === 'sandbox'
}
