import { Button, Switch } from '@mantine/core'
import { MessagesSquare, SendHorizontal } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Message, MessageStatus, MessageType } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { CHANNELS, channelName } from '../../parts/channel-name.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { Money } from '../../parts/money.tsx'
import { Page } from '../../parts/page.tsx'
import { PERIODS, periodStart } from '../../parts/periods.ts'
import { inWords, StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { MessagePanel } from './message-panel.tsx'

const STATUSES: readonly MessageStatus[] = [
  'scheduled',
  'queued',
  'sending',
  'unknown',
  'sent',
  'delivered',
  'read',
  'undelivered',
  'failed',
  'cancelled',
  'expired',
]
const TYPES: readonly MessageType[] = ['otp', 'utility', 'marketing', 'free_text']
const NAMES = ['status', 'channel', 'messageType', 'to', 'templateId', 'bulkJobId', 'period'] as const
const TAIL_EVERY_MS = 2_000

/** Every message of the account, newest first; one of them beside the list. */
export default function Messages({ messageId }: { messageId?: string }) {
  const [, go] = useLocation()
  const [filters, setFilters] = useFilters(NAMES)
  const [tail, setTail] = useState(true)
  const { period, ...query } = filters
  const createdAfter = periodStart(period)
  const messages = useReadPages(
    '/api/v2/messages',
    { query: { ...query, ...(createdAfter !== null && { createdAfter }) } },
    { everyMs: tail ? TAIL_EVERY_MS : undefined },
  )
  const filtered = Object.keys(filters).length > 0
  const clear = () => setFilters(Object.fromEntries(NAMES.map(name => [name, null])))
  const open = (id: string | null) => go((id === null ? '/messages' : `/messages/${id}`) + location.search)

  return (
    <Page
      title="Messages"
      actions={
        <>
          <Switch label="Follow" checked={tail} onChange={event => setTail(event.currentTarget.checked)} />
          <Button component={Link} href="/send" leftSection={<SendHorizontal size={15} />}>
            Send
          </Button>
        </>
      }
    >
      <FilterBar onClear={filtered ? clear : null}>
        <TextFilter label="Recipient" value={filters.to} onChange={to => setFilters({ to })} />
        <ChoiceFilter
          label="Status"
          value={filters.status}
          options={STATUSES.map(value => ({ value, label: inWords(value) }))}
          onChange={status => setFilters({ status })}
          width={140}
        />
        <ChoiceFilter
          label="Channel"
          value={filters.channel}
          options={CHANNELS.map(value => ({ value, label: channelName(value) }))}
          onChange={channel => setFilters({ channel })}
        />
        <ChoiceFilter
          label="Type"
          value={filters.messageType}
          options={TYPES.map(value => ({ value, label: value === 'otp' ? 'OTP' : inWords(value) }))}
          onChange={messageType => setFilters({ messageType })}
          width={130}
        />
        <ChoiceFilter
          label="Any time"
          value={filters.period}
          options={PERIODS}
          onChange={period => setFilters({ period })}
          width={150}
        />
        {filters.templateId !== undefined && <OneOf name="Template" id={filters.templateId} />}
        {filters.bulkJobId !== undefined && <OneOf name="Job" id={filters.bulkJobId} />}
      </FilterBar>
      <DataList
        label="Messages"
        read={messages}
        columns={COLUMNS}
        rowKey={message => message.messageId}
        onOpen={message => open(message.messageId)}
        opened={messageId ?? null}
        empty={
          filtered ? (
            <EmptyNote
              icon={MessagesSquare}
              title="No message fits these filters"
              text="Recipients are compared as a whole: a phone number as E.164, with its plus."
              action={
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              }
            />
          ) : (
            <EmptyNote
              icon={MessagesSquare}
              title="No messages yet"
              text="What you send appears here, with every step that it takes."
              action={
                <Button component={Link} href="/send">
                  Send the first one
                </Button>
              }
            />
          )
        }
      />
      <MessagePanel messageId={messageId ?? null} onClose={() => open(null)} />
    </Page>
  )
}

function OneOf({ name, id }: { name: string; id: string }) {
  return (
    <span className="ph-mono" style={{ color: 'var(--ph-quiet)' }}>
      {name} {id}
    </span>
  )
}

const COLUMNS: readonly Column<Message>[] = [
  { title: 'Status', width: '106px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'To',
    width: 'minmax(112px, 1.1fr)',
    render: ({ to }) => <bdi className="ph-num">{to}</bdi>,
  },
  {
    title: 'Words',
    width: 'minmax(140px, 2.4fr)',
    wideOnly: true,
    render: message => <bdi>{wordsOf(message)}</bdi>,
  },
  { title: 'Channel', width: '136px', wideOnly: true, render: ({ channel }) => channelName(channel) },
  { title: 'Provider', width: '110px', wideOnly: true, render: ({ provider }) => provider },
  {
    title: 'Cost',
    width: '84px',
    align: 'end',
    wideOnly: true,
    render: ({ billing }) =>
      billing.cost === 0 ? '–' : <Money amount={billing.cost} currency={billing.currency} />,
  },
  { title: 'When', width: '88px', align: 'end', render: ({ createdAt }) => <Time at={createdAt} /> },
]

function wordsOf({ subject, text, attachment, templateId }: Message): string {
  if (subject !== null) return subject
  if (text !== null && text !== '') return text
  if (attachment !== null) return attachment.fileName
  return templateId === null ? '' : `Template ${templateId}`
}
