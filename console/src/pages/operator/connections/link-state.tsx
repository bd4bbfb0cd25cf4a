import type { ConnectionView } from '../../../../../sdk/index.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { LINK_WORDS } from '../link-words.ts'

/** The link as the node has it that answers; what is switched off has none. */
export function LinkState({ connection }: { connection: ConnectionView }) {
  const { enabled, state } = connection
  if (!enabled) return <StatusBadge status="disabled" />
  return <StatusBadge status={state.link} label={LINK_WORDS[state.link]} />
}
