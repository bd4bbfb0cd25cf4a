import { Button } from '@mantine/core'
import { Cable, Plus } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import type { ConnectionView } from '../../../../../sdk/index.ts'
import { useRead } from '../../../api/use-read.ts'
import { asPagedRead } from '../../../parts/as-paged-read.ts'
import { channelName } from '../../../parts/channel-name.ts'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { NameCell } from '../../../parts/name-cell.tsx'
import { Page } from '../../../parts/page.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { AccountName, useAccountNames } from '../account-names.tsx'
import { CIRCUIT_LABELS, CIRCUIT_TONES } from '../link-labels.ts'
import { LinkState } from './link-state.tsx'
import { CONNECTIONS, MAX_CONNECTIONS, POLL_EVERY_MS } from './paths.ts'

/** In the order in which they are tried. */
export function ConnectionList() {
  const [, go] = useLocation()
  const read = useRead(CONNECTIONS, { query: { limit: MAX_CONNECTIONS } }, { everyMs: POLL_EVERY_MS })
  const names = useAccountNames()
  const ordered = read.data?.data.toSorted((left, right) => left.priorityOrder - right.priorityOrder)
  const add = (
    <Button component={Link} href="/operator/connections/new" leftSection={<Plus size={16} />}>
      New connection
    </Button>
  )
  return (
    <Page
      title="Connections"
      lead="Connections to the providers that deliver messages. Of those that can carry a message, the one with the lowest order is tried first."
      actions={add}
    >
      <DataList
        label="Connections"
        read={asPagedRead(ordered, read)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => go(`/operator/connections/${id}`)}
        columns={[
          ...COLUMNS,
          {
            title: 'Account',
            width: 'minmax(100px, 1fr)',
            wideOnly: true,
            render: ({ accountId }) =>
              accountId === null ? 'Every account' : <AccountName id={accountId} names={names} />,
          },
          { title: 'State', width: 'minmax(100px, 130px)', render: row => <LinkState connection={row} /> },
        ]}
        empty={
          <EmptyNote
            icon={Cable}
            title="No connections yet"
            text="Without a connection, messages go only to the sandbox."
            action={add}
          />
        }
      />
    </Page>
  )
}

const COLUMNS: readonly Column<ConnectionView>[] = [
  {
    title: 'Order',
    width: '60px',
    align: 'end',
    wideOnly: true,
    render: ({ priorityOrder }) => <span className="ph-num">{priorityOrder.toLocaleString()}</span>,
  },
  {
    title: 'Name',
    width: 'minmax(120px, 1.6fr)',
    render: ({ name }) => <NameCell name={name} />,
  },
  { title: 'Provider', width: 'minmax(90px, 1fr)', wideOnly: true, render: ({ provider }) => provider },
  {
    title: 'Channels',
    width: 'minmax(120px, 2fr)',
    wideOnly: true,
    render: ({ channels }) => {
      const words = channels.map(channelName).join(', ')
      return <span title={words}>{words}</span>
    },
  },
  {
    title: 'Circuit',
    width: '100px',
    wideOnly: true,
    render: ({ enabled, state }) =>
      enabled ? (
        <StatusBadge
          status={state.circuit}
          tone={CIRCUIT_TONES[state.circuit]}
          label={CIRCUIT_LABELS[state.circuit]}
        />
      ) : (
        '–'
      ),
  },
]
