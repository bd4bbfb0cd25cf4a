import { expect, it } from 'vitest'
import { carriersOf } from '../../console/src/pages/overview/carriers.ts'
import type { Caller } from '../../src/contract/caller.ts'
import { carrying } from '../../src/core/connections/carrier.ts'
import type { ConnectionSnapshot } from '../../src/core/connections/snapshot.ts'
import { createPolicies } from '../../src/core/routing/policies.ts'

const POLICY = {
  allowedTypes: ['utility'],
  sendModeByType: {},
  requiresApprovedTemplate: false,
  supportsUserSender: true,
  supportsSystemSenderFallback: true,
} as never
const PROVIDERS = new Map(['sandbox', 'smpp'].map(key => [key, { policy: POLICY }]))

/** A provider that has no connection, one that is enabled, or one that is disabled. */
const STATES = [null, true, false] as const

function connection(provider: string, enabled: boolean | null): ConnectionSnapshot[] {
  const known = { provider, enabled, channels: ['local_sms'], allowedTypes: [], sendModeByType: {} }
  return enabled === null ? [] : [{ ...known, retryPolicy: {} } as unknown as ConnectionSnapshot]
}

it('the overview names for each channel the connections that a send would use', async () => {
  for (const mode of ['live', 'test'] as const) {
    for (const [sandbox, real] of STATES.flatMap(one => STATES.map(other => [one, other] as const))) {
      for (const sandboxForLive of [true, false]) {
        const connections = [...connection('sandbox', sandbox), ...connection('smpp', real)]
        const forAccount = () => connections
        const policies = await createPolicies({
          connections: { forAccount },
          providers: PROVIDERS,
          sandboxForLive,
        }).list({ account: {}, mode } as Caller)
        const shown = carriersOf('local_sms', mode, policies).map(({ providerKey }) => providerKey)
        const used = carrying('local_sms', { mode, connections, sandboxForLive }).map(each => each.provider)
        expect(shown, JSON.stringify({ mode, sandbox, real, sandboxForLive })).toEqual(used)
      }
    }
  }
})
