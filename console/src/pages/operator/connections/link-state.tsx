import type { ConnectionView } from '../../../../../sdk/index.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { LINK_LABELS } from '../link-labels.ts'

/** The state of the link on the node that answered the request; a disabled connection has none. */
export function LinkState({ connection }: { connection: ConnectionView }) {
  const { enabled, state } = connection
  if (!enabled) return <StatusBadge status="disabled" />
  return <StatusBadge status={state.link} label={LINK_LABELS[state.link]} />
}
