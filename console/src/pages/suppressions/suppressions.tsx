import { ActionIcon, Button, Text, Tooltip } from '@mantine/core'
import { Ban, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { SuppressionSource, SuppressionView } from '../../../../sdk/index.ts'
import { useAction, useReadPages } from '../../api/use-read.ts'
import { channelName } from '../../parts/channel-name.ts'
import { ChannelFilter } from '../../parts/common-filters.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'
import { AddSuppression } from './add-suppression.tsx'
import { SUPPRESSIONS } from './path.ts'

/** Recipients who get no marketing. */
export default function Suppressions() {
  const [filters, setFilters, clear] = useFilters(['to', 'channel'])
  const list = useReadPages(SUPPRESSIONS, { query: filters })
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<SuppressionView | null>(null)
  const remove = useAction((api, id: string) => api.delete('/api/v2/suppressions/{id}', { path: { id } }), {
    changes: [SUPPRESSIONS],
    onDone: () => notifyDone('They get marketing again.'),
  })
  const { can } = useSession()
  const mayChange = can('messages:create')
  const columns = mayChange ? [...COLUMNS, removeColumn(setRemoving)] : COLUMNS
  return (
    <Page
      title="Suppression list"
      lead="Recipients who get no marketing: they wrote STOP, their provider reported it, or you added them. One-time codes, utility and free text messages are still sent."
      actions={
        mayChange && (
          <Button leftSection={<Plus size={16} />} onClick={() => setAdding(true)}>
            Add a recipient
          </Button>
        )
      }
    >
      <FilterBar onClear={clear}>
        <TextFilter label="Recipient" value={filters.to} onChange={to => setFilters({ to })} />
        <ChannelFilter value={filters.channel} onChange={channel => setFilters({ channel })} />
      </FilterBar>
      <DataList
        label="Suppressed recipients"
        read={list}
        columns={columns}
        rowKey={row => row.id}
        empty={
          <EmptyList
            icon={Ban}
            clear={clear}
            noMatch={{
              title: 'No recipient matches these filters',
              text: 'Enter the whole recipient: a phone number in E.164 format, with its plus.',
            }}
            title="No suppressed recipients"
            text="Recipients who write STOP are added automatically. You can add those who asked you in another way."
            action={mayChange && <Button onClick={() => setAdding(true)}>Add a recipient</Button>}
          />
        }
      />
      <AddSuppression opened={adding} onClose={() => setAdding(false)} />
      <ConfirmDialog
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        title="Send marketing to them again?"
        text={
          removing && (
            <>
              <bdi>{removing.to}</bdi> is removed from the list.
              {removing.source === 'stop' &&
                ' They opted out themselves: make sure that they want your messages again.'}
            </>
          )
        }
        confirmLabel="Remove from the list"
        run={() => (removing ? remove.mutateAsync(removing.id) : Promise.resolve())}
      />
    </Page>
  )
}

const SOURCES: Record<SuppressionSource, string> = {
  api: 'Added by you',
  stop: 'They wrote STOP',
  provider: 'Their provider',
}

const COLUMNS: readonly Column<SuppressionView>[] = [
  {
    title: 'Recipient',
    width: 'minmax(120px, 1.3fr)',
    render: ({ to }) => <bdi className="ph-num">{to}</bdi>,
  },
  {
    title: 'Channel',
    width: 'minmax(128px, 1fr)',
    render: ({ channel }) => (channel === null ? 'Every channel' : channelName(channel)),
  },
  { title: 'Source', width: '140px', wideOnly: true, render: ({ source }) => SOURCES[source] },
  {
    title: 'Reason',
    width: 'minmax(120px, 1.6fr)',
    wideOnly: true,
    render: ({ reason }) =>
      reason === null ? (
        <Text span c="dimmed" size="sm">
          –
        </Text>
      ) : (
        <bdi title={reason}>{reason}</bdi>
      ),
  },
  {
    title: 'Since',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
]

function removeColumn(onLeave: (row: SuppressionView) => void): Column<SuppressionView> {
  return {
    title: 'Actions',
    hidesTitle: true,
    width: '40px',
    align: 'end',
    render: row => (
      <Tooltip label="Remove from the list">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Remove ${row.to} from the list`}
          onClick={() => onLeave(row)}
        >
          <Trash2 size={15} />
        </ActionIcon>
      </Tooltip>
    ),
  }
}
