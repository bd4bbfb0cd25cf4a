import { ScrollText } from 'lucide-react'
import type { AuditEntry } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import type { Column } from '../../parts/data-list.tsx'
import { ACCOUNT_GROUPS } from './actions.ts'
import { AuditLog, POLL_EVERY_MS, useAuditFilters } from './log.tsx'

/** The audit log of the account; for owners only. */
export default function Audit() {
  const { filters, query } = useAuditFilters()
  const entries = useReadPages('/api/v2/audit', { query }, { everyMs: POLL_EVERY_MS })
  return (
    <AuditLog
      title="Audit log"
      lead="Who changed what, when and from where: people, keys and the operator. It cannot be changed."
      emptyNote={{
        icon: ScrollText,
        text: 'Every change of the account is recorded here: keys created, members invited, templates deleted.',
      }}
      filters={filters}
      entries={entries}
      groups={ACCOUNT_GROUPS}
      aside={FROM}
    />
  )
}

const FROM: Column<AuditEntry> = {
  title: 'IP address',
  width: '140px',
  wideOnly: true,
  render: ({ ip }) => <span className="ph-mono">{ip ?? '–'}</span>,
}
