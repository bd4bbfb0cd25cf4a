import type { Channel, KeyMode } from '../../contract/enums.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { ConnectionSnapshot } from './snapshot.ts'

export type CarrierRules = {
  mode: KeyMode
  /** The account's and the platform's. */
  connections: readonly ConnectionSnapshot[]
  /** Whether live keys may fall back on the sandbox where there is no real connection. */
  sandboxForLive: boolean
}

/**
 * What carries a channel. A test key uses only the sandbox. A live key uses it only on a channel without
 * real connections: if one is paused, or does not allow this message type, messages
 * that people wait for must not become simulated ones.
 */
export function carriedBy(
  channel: Channel,
  { mode, connections, sandboxForLive }: CarrierRules,
): 'real' | 'sandbox' | 'nothing' {
  if (mode === 'test') return 'sandbox'
  let isSandboxOn = false
  for (const { provider, channels, enabled } of connections) {
    if (!channels.includes(channel)) continue
    if (provider !== SANDBOX) return 'real'
    if (enabled) isSandboxOn = true
  }
  return isSandboxOn && sandboxForLive ? 'sandbox' : 'nothing'
}

/**
 * The connections that carry a channel, in their order: with a live key only enabled ones. With a test key
 * the sandbox, even if it is disabled for live keys.
 */
export function carrying(channel: Channel, rules: CarrierRules): ConnectionSnapshot[] {
  const carrier = carriedBy(channel, rules)
  return rules.connections.filter(
    each =>
      each.channels.includes(channel) &&
      (each.provider === SANDBOX ? 'sandbox' : 'real') === carrier &&
      (rules.mode === 'test' || each.enabled),
  )
}
