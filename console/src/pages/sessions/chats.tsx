import { Button, SegmentedControl } from '@mantine/core'
import { MessagesSquare } from 'lucide-react'
import { Link } from 'wouter'
import type { WebSessionChat, WebSessionView } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { MaybeTime } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { WriteTo } from '../../parts/write-to.tsx'

const POLL_EVERY_MS = 10_000
const KINDS = [
  { value: '', label: 'All' },
  { value: 'user', label: 'People' },
  { value: 'group', label: 'Groups' },
]

/** The chats of the session. */
export function Chats({ session }: { session: WebSessionView }) {
  const [filters, setFilters] = useFilters(['kind'])
  const chats = useReadPages(
    '/api/v2/chatapp-sessions/{name}/chats',
    { path: { name: session.name }, query: filters },
    { everyMs: POLL_EVERY_MS },
  )
  return (
    <div>
      <FilterBar onClear={null}>
        <SegmentedControl
          size="xs"
          aria-label="Which chats"
          data={KINDS}
          value={filters.kind ?? ''}
          onChange={kind => setFilters({ kind })}
        />
      </FilterBar>
      <DataList
        label="Chats"
        read={chats}
        columns={COLUMNS}
        rowKey={({ chatId }) => chatId}
        height="420px"
        empty={
          <EmptyNote
            icon={MessagesSquare}
            title="No chats yet"
            text={
              session.sandbox
                ? 'A sandbox session has no phone, and so no chats. You can use it to write to any number.'
                : 'Chats appear when the phone reports them, and with the first messages.'
            }
            action={
              <Button component={Link} href="/send?channel=user_chatapp_session" variant="default">
                Write to a number
              </Button>
            }
          />
        }
      />
    </div>
  )
}

const COLUMNS: readonly Column<WebSessionChat>[] = [
  {
    title: 'Chat',
    width: 'minmax(140px, 1.4fr)',
    render: ({ name, chatId }) => <NameCell name={name ?? chatId} />,
  },
  {
    title: 'Kind',
    width: '90px',
    wideOnly: true,
    render: ({ kind }) => (kind === 'group' ? 'Group' : 'Person'),
  },
  {
    title: 'Id',
    width: 'minmax(150px, 1fr)',
    wideOnly: true,
    render: ({ chatId }) => (
      <span className="ph-mono" dir="ltr">
        {chatId}
      </span>
    ),
  },
  {
    title: 'Last message',
    width: '110px',
    wideOnly: true,
    render: ({ lastMessageAt }) => <MaybeTime at={lastMessageAt} />,
  },
  {
    title: 'Actions',
    hidesTitle: true,
    width: '104px',
    align: 'end',
    render: ({ conversationContext, name, chatId }) => (
      <WriteTo name={name ?? chatId} conversation={conversationContext} />
    ),
  },
]
