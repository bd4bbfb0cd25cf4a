import { Button } from '@mantine/core'
import { FlaskConical } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { SandboxMessage } from '../../../../sdk/index.ts'
import { useMessageChanges } from '../../api/use-message-changes.ts'
import { useReadPages } from '../../api/use-read.ts'
import { channelName } from '../../parts/channel-name.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'
import { SandboxPanel } from './sandbox-panel.tsx'

const POLL_EVERY_MS = 3_000

/** The messages in the sandbox, including codes. */
export default function Sandbox() {
  const [filters, setFilters, clear] = useFilters(['to'])
  const { can } = useSession()
  // The inbox itself needs no permission, but the stream of changes does.
  const mayFollow = can('messages:read')
  const everyMs = mayFollow ? undefined : POLL_EVERY_MS
  const inbox = useReadPages('/api/v2/sandbox/messages', { query: filters }, { everyMs })
  useMessageChanges(mayFollow ? filters : null, { onChanged: inbox.refresh, read: inbox.refresh })
  const [open, setOpen] = useState<SandboxMessage | null>(null)
  return (
    <Page
      title="Sandbox inbox"
      lead="Messages sent with test keys, and with live keys over channels without a connection. None of them left this server."
    >
      <FilterBar onClear={clear}>
        <TextFilter label="Recipient" value={filters.to} onChange={to => setFilters({ to })} />
      </FilterBar>
      <DataList
        label="Messages in the sandbox"
        read={inbox}
        columns={COLUMNS}
        rowKey={message => `${message.messageId} ${message.attempts}`}
        onOpen={setOpen}
        opened={open && `${open.messageId} ${open.attempts}`}
        empty={
          <EmptyList
            icon={FlaskConical}
            clear={clear}
            noMatch={{
              title: 'No messages for this recipient',
              text: 'Enter the whole recipient, exactly as in the message.',
            }}
            title="No messages yet"
            text="Messages that you send in test mode appear here at once."
            action={
              can('messages:create') && (
                <Button component={Link} href="/send">
                  Send a message
                </Button>
              )
            }
          />
        }
      />
      <SandboxPanel message={open} onClose={() => setOpen(null)} />
    </Page>
  )
}

const COLUMNS: readonly Column<SandboxMessage>[] = [
  { title: 'To', width: 'minmax(112px, 1fr)', render: ({ to }) => <bdi className="ph-num">{to}</bdi> },
  { title: 'Channel', width: '140px', wideOnly: true, render: ({ channel }) => channelName(channel) },
  { title: 'From', width: '120px', wideOnly: true, render: ({ sender }) => <bdi>{sender ?? '–'}</bdi> },
  { title: 'Text', width: 'minmax(90px, 3fr)', render: message => <bdi>{summaryOf(message)}</bdi> },
  { title: 'Received', width: '88px', align: 'end', render: ({ receivedAt }) => <Time at={receivedAt} /> },
]

export function summaryOf({ subject, text, html, template, media }: SandboxMessage): string {
  if (subject !== null) return subject
  if (text !== null && text !== '') return text
  if (template !== null) return `Template ${template.name}: ${template.body.join(', ')}`
  if (media !== null && media.length > 0) return media.map(({ fileName }) => fileName).join(', ')
  return html === null ? '' : 'HTML'
}
