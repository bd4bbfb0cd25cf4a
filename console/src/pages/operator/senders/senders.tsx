import { Button } from '@mantine/core'
import { Plus, Signature } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { AdminSender, SenderStatus } from '../../../../../sdk/index.ts'
import { useReadPages } from '../../../api/use-read.ts'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { ChoiceFilter, FilterBar } from '../../../parts/filter-bar.tsx'
import { NameCell } from '../../../parts/name-cell.tsx'
import { Page } from '../../../parts/page.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Time } from '../../../parts/time.tsx'
import { useFilters } from '../../../parts/use-filters.ts'
import { AccountName, useAccountNames } from '../account-names.tsx'
import { kindOf } from './name-rules.ts'
import { POLL_EVERY_MS, SENDERS } from './paths.ts'
import { PlatformSender } from './platform-sender.tsx'
import { ReviewPanel } from './review-panel.tsx'

const WAITING = 'pending'
/** The filter value for all statuses, since without a filter it is WAITING. */
const ALL = 'all'
const STATUSES = [
  { value: WAITING, label: 'Waiting for review' },
  { value: 'approved', label: 'Approved' },
  { value: 'rejected', label: 'Rejected' },
  { value: ALL, label: 'All statuses' },
]

/** Requested SMS sender names; those that wait for a decision first. */
export default function Senders({ senderId }: { senderId?: string }) {
  const [, go] = useLocation()
  const [filters, setFilters] = useFilters(['status'])
  const status = filters.status ?? WAITING
  const senders = useReadPages(
    SENDERS,
    { query: { ...(status !== ALL && { status: status as SenderStatus }) } },
    { everyMs: POLL_EVERY_MS },
  )
  const names = useAccountNames()
  const [making, setMaking] = useState(false)
  const open = (id: string | null) => go(`/operator/senders${id === null ? '' : `/${id}`}${location.search}`)

  return (
    <Page
      title="Sender review"
      lead="SMS sender names that accounts request. Recipients see them, and networks hold you responsible for them."
      actions={
        <Button variant="default" leftSection={<Plus size={16} />} onClick={() => setMaking(true)}>
          New platform name
        </Button>
      }
    >
      <FilterBar onClear={null}>
        <ChoiceFilter
          label="Waiting for review"
          value={status}
          options={STATUSES}
          onChange={value => setFilters({ status: value === WAITING ? null : value })}
          width={190}
        />
      </FilterBar>
      <DataList
        label="SMS senders"
        read={senders}
        rowKey={({ id }) => id}
        onOpen={({ id }) => open(id)}
        opened={senderId ?? null}
        columns={[
          ...NAME_COLUMNS,
          {
            title: 'Account',
            width: 'minmax(90px, 1.5fr)',
            render: ({ accountId }) => <AccountName id={accountId} names={names} />,
          },
          ...STATE_COLUMNS,
        ]}
        empty={
          status === WAITING ? (
            <EmptyNote
              icon={Signature}
              title="No requests to review"
              text="Names that accounts request appear here until you decide."
            />
          ) : (
            <EmptyNote icon={Signature} title="No such names" text="Choose another status above." />
          )
        }
      />
      <ReviewPanel senderId={senderId ?? null} onClose={() => open(null)} />
      <PlatformSender opened={making} onClose={() => setMaking(false)} />
    </Page>
  )
}

const NAME_COLUMNS: readonly Column<AdminSender>[] = [
  {
    title: 'Name',
    width: 'minmax(110px, 1.3fr)',
    render: ({ name }) => <NameCell name={name} />,
  },
  { title: 'Kind', width: '110px', wideOnly: true, render: ({ name }) => kindOf(name) },
]

const STATE_COLUMNS: readonly Column<AdminSender>[] = [
  { title: 'State', width: '98px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Requested',
    width: '110px',
    align: 'end',
    wideOnly: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
]
