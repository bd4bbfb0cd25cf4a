import { History } from 'lucide-react'
import { useReadPages } from '../../../api/use-read.ts'
import { ALL_GROUPS } from '../../audit/actions.ts'
import { AuditLog, POLL_EVERY_MS, useAuditFilters } from '../../audit/log.tsx'
import { AccountName, useAccountNames } from '../account-names.tsx'
import { AccountSelect } from '../account-select.tsx'

const PLATFORM = { value: 'platform', label: 'The platform' }

/** Who changed what, of every account and of the platform. */
export default function OperatorAudit() {
  const { filters, query } = useAuditFilters()
  const [{ accountId }, setFilters] = filters
  const entries = useReadPages('/api/admin/audit', { query }, { everyMs: POLL_EVERY_MS })
  const names = useAccountNames()
  return (
    <AuditLog
      title="Platform audit log"
      lead="Who changed what, when and from where, in every account and on the platform. It cannot be changed."
      emptyNote={{ icon: History, text: 'Every change of an account or the platform is recorded here.' }}
      filters={filters}
      entries={entries}
      groups={ALL_GROUPS}
      accountFilter={
        <AccountSelect
          aria-label="Every account"
          placeholder="Every account"
          size="sm"
          w={170}
          clearable
          comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
          first={PLATFORM}
          value={accountId ?? null}
          onChange={chosen => setFilters({ accountId: chosen })}
        />
      }
      aside={{
        title: 'Account',
        width: 'minmax(110px, 1fr)',
        wideOnly: true,
        render: entry => <AccountName id={entry.accountId} names={names} />,
      }}
    />
  )
}
