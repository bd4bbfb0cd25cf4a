import { Button, Switch } from '@mantine/core'
import { MessagesSquare, SendHorizontal } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Message } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { channelName } from '../../parts/channel-name.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { Money } from '../../parts/money.tsx'
import { Page } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/context.tsx'
import { MessageFilterBar, useMessageFilters } from './message-filters.tsx'
import { MessagePanel } from './message-panel.tsx'
import { useLiveMessages } from './use-live-messages.ts'

/** Every message of the account, newest first; one of them beside the list. */
export default function Messages({ messageId }: { messageId?: string }) {
  const [, go] = useLocation()
  const { query, ...filters } = useMessageFilters()
  const { can } = useSession()
  const mayWrite = can('messages:create')
  const [tail, setTail] = useState(true)
  const messages = useReadPages('/api/v2/messages', { query })
  useLiveMessages(tail ? query : null, messages)
  const open = (id: string | null) => go((id === null ? '/messages' : `/messages/${id}`) + location.search)

  return (
    <Page
      title="Messages"
      actions={
        <>
          <Switch
            label="Live updates"
            checked={tail}
            onChange={event => setTail(event.currentTarget.checked)}
          />
          {mayWrite && (
            <Button component={Link} href="/send" leftSection={<SendHorizontal size={15} />}>
              Send
            </Button>
          )}
        </>
      }
    >
      <MessageFilterBar {...filters} />
      <DataList
        label="Messages"
        read={messages}
        columns={COLUMNS}
        rowKey={message => message.messageId}
        onOpen={message => open(message.messageId)}
        opened={messageId ?? null}
        empty={
          <EmptyList
            icon={MessagesSquare}
            clear={filters.clear}
            noMatch={{
              title: 'No message matches these filters',
              text: 'Enter the whole recipient: a phone number in E.164 format, with its plus.',
            }}
            title="No messages yet"
            text="The messages that you send appear here, with every step of their delivery."
            action={
              mayWrite && (
                <Button component={Link} href="/send">
                  Send the first one
                </Button>
              )
            }
          />
        }
      />
      <MessagePanel messageId={messageId ?? null} onClose={() => open(null)} />
    </Page>
  )
}

/** Only these show a cost in the list: tests are free, and the amount held for an unsent message is released. */
const CHARGED: ReadonlySet<Message['billing']['state']> = new Set(['held', 'captured'])

const COLUMNS: readonly Column<Message>[] = [
  { title: 'Status', width: '106px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'To',
    width: 'minmax(112px, 1.1fr)',
    render: ({ to }) => <bdi className="ph-num">{to}</bdi>,
  },
  {
    title: 'Text',
    width: 'minmax(140px, 2.4fr)',
    wideOnly: true,
    render: message => <bdi>{summaryOf(message)}</bdi>,
  },
  { title: 'Channel', width: '136px', wideOnly: true, render: ({ channel }) => channelName(channel) },
  { title: 'Provider', width: '110px', wideOnly: true, render: ({ provider }) => provider },
  {
    title: 'Cost',
    width: '84px',
    align: 'end',
    wideOnly: true,
    render: ({ billing }) =>
      CHARGED.has(billing.state) && billing.cost > 0 ? (
        <Money amount={billing.cost} currency={billing.currency} />
      ) : (
        '–'
      ),
  },
  { title: 'When', width: '88px', align: 'end', render: ({ createdAt }) => <Time at={createdAt} /> },
]

function summaryOf({ subject, text, attachment, templateId }: Message): string {
  if (subject !== null) return subject
  if (text !== null && text !== '') return text
  if (attachment !== null) return attachment.fileName
  return templateId === null ? '' : `Template ${templateId}`
}
