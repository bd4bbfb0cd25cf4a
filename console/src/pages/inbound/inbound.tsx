import { Button } from '@mantine/core'
import { Contact, Inbox, MapPin, Paperclip } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { InboundMessageView } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { channelName } from '../../parts/channel-name.ts'
import { ChannelFilter, PeriodFilter } from '../../parts/common-filters.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { periodStart } from '../../parts/periods.ts'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'
import { ConversationPanel } from './conversation-panel.tsx'
import { coordinatesOf } from './location-card.tsx'
import { useInboundChanges } from './use-inbound-changes.ts'

export const INBOUND = '/api/v2/inbound'
const NAMES = ['from', 'to', 'channel', 'conversationKey', 'period'] as const

/** The inbound messages; one conversation beside the list. */
export default function InboundPage({ inboundId }: { inboundId?: string }) {
  const [, go] = useLocation()
  const [filters, setFilters, clear] = useFilters(NAMES)
  const { period, ...query } = filters
  const createdAfter = periodStart(period)
  const inbound = useReadPages(INBOUND, {
    query: { ...query, ...(createdAfter !== null && { createdAfter }) },
  })
  const [news, setNews] = useState(0)
  const { can } = useSession()
  useInboundChanges(() => {
    inbound.refresh()
    setNews(each => each + 1)
  })
  const open = (id: string | null) => go((id === null ? '/inbound' : `/inbound/${id}`) + location.search)

  return (
    <Page
      title="Inbound"
      lead="Messages that people send to your numbers, official senders, web sessions and bots."
    >
      <FilterBar onClear={clear}>
        <TextFilter label="From" value={filters.from} onChange={from => setFilters({ from })} width={180} />
        <TextFilter label="To" value={filters.to} onChange={to => setFilters({ to })} width={180} />
        <ChannelFilter value={filters.channel} onChange={channel => setFilters({ channel })} />
        <PeriodFilter value={filters.period} onChange={value => setFilters({ period: value })} />
        {filters.conversationKey !== undefined && (
          <span style={{ color: 'var(--ph-quiet)' }}>One conversation</span>
        )}
      </FilterBar>
      <DataList
        label="Inbound messages"
        read={inbound}
        columns={COLUMNS}
        rowKey={message => message.id}
        onOpen={message => open(message.id)}
        opened={inboundId ?? null}
        empty={
          <EmptyList
            icon={Inbox}
            clear={clear}
            noMatch={{
              text: 'Enter the whole sender: a phone number in E.164 format with its plus, or the chat id for a bot.',
            }}
            title="No inbound messages yet"
            text="Received messages appear here, and are sent to your webhooks as inbound.message. Link a phone or add a bot to receive messages."
            action={
              can('messages:create') && (
                <Button component={Link} href="/bots" variant="default">
                  Add a bot
                </Button>
              )
            }
          />
        }
      />
      <ConversationPanel inboundId={inboundId ?? null} news={news} onClose={() => open(null)} />
    </Page>
  )
}

/** The text; without one, the other contents. */
function summaryOf({ text, media, location, contacts }: InboundMessageView): string {
  if (text !== null) return text
  const place = location && [location.name ?? location.address ?? coordinatesOf(location)]
  const people = contacts.map(({ name, phones, emails }) => name ?? phones[0] ?? emails[0])
  return [...media.map(file => file.fileName ?? file.type), ...(place ?? []), ...people].join(', ')
}

const COLUMNS: readonly Column<InboundMessageView>[] = [
  {
    title: 'From',
    width: 'minmax(92px, 1.1fr)',
    render: ({ from, contact }) => <bdi className="ph-num">{contact?.name ?? from}</bdi>,
  },
  {
    title: 'Text',
    width: 'minmax(96px, 2.6fr)',
    render: message => (
      <>
        {message.media.length > 0 && <Paperclip size={13} aria-label="With a file" />}
        {message.location && <MapPin size={13} aria-label="With a location" />}
        {message.contacts.length > 0 && <Contact size={13} aria-label="With a contact" />}{' '}
        <bdi>{summaryOf(message)}</bdi>
      </>
    ),
  },
  { title: 'Channel', width: '140px', wideOnly: true, render: ({ channel }) => channelName(channel) },
  {
    title: 'To',
    width: 'minmax(110px, 1fr)',
    wideOnly: true,
    render: ({ to }) => <bdi className="ph-num">{to}</bdi>,
  },
  {
    title: 'Keyword',
    width: '80px',
    wideOnly: true,
    render: ({ keyword }) => (keyword === null ? '' : keyword.toUpperCase()),
  },
  { title: 'When', width: '84px', align: 'end', render: ({ receivedAt }) => <Time at={receivedAt} /> },
]
