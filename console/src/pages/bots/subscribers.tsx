import { Group, Pagination, Stack, Text } from '@mantine/core'
import { Users } from 'lucide-react'
import type { BotSubscriber, BotView } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'
import { asPagedRead } from '../../parts/as-paged-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { WriteTo } from '../../parts/write-to.tsx'

const PAGE_ROWS = 50
const POLL_EVERY_MS = 3_000

/** Who started the bot: searched, page by page. */
export function Subscribers({ bot }: { bot: BotView }) {
  const [filters, setFilters] = useFilters(['q', 'page'])
  const page = Math.max(1, Number.parseInt(filters.page ?? '1', 10) || 1)
  const read = useRead(
    '/api/v2/botapp-bots/{botId}/subscribers',
    {
      path: { botId: bot.id },
      query: { page, limit: PAGE_ROWS, ...(filters.q !== undefined && { q: filters.q }) },
    },
    { everyMs: POLL_EVERY_MS, keepsPrevious: true },
  )
  const shown = read.data?.data
  const pages = Math.max(1, Math.ceil((shown?.total ?? 0) / PAGE_ROWS))
  const clear = () => setFilters({ q: null, page: null })
  return (
    <div>
      <FilterBar onClear={filters.q === undefined ? null : clear}>
        <TextFilter
          label="Name, username or chat id"
          width={260}
          value={filters.q}
          onChange={q => setFilters({ q, page: null })}
        />
      </FilterBar>
      <Stack gap="sm">
        <DataList
          label="Subscribers"
          read={asPagedRead(shown?.subscribers, read)}
          columns={COLUMNS}
          rowKey={({ chatId }) => chatId}
          height="calc(100dvh - 420px)"
          empty={
            <EmptyList
              icon={Users}
              clear={filters.q === undefined ? null : clear}
              noMatch={{
                title: 'No matching subscribers',
                text: 'Search for a part of the name, the @username or the chat id.',
              }}
              title="No subscribers yet"
              text={<HowToStart bot={bot} />}
            />
          }
        />
        {pages > 1 && (
          <Group justify="space-between">
            <Text size="sm" c="dimmed" className="ph-num">
              {(shown?.total ?? 0).toLocaleString()} subscribers
            </Text>
            <Pagination
              size="sm"
              total={pages}
              value={page}
              onChange={next => setFilters({ page: next === 1 ? null : String(next) })}
              getControlProps={control => ({ 'aria-label': `The ${control} page` })}
            />
          </Group>
        )}
      </Stack>
    </div>
  )
}

function HowToStart({ bot: { username } }: { bot: BotView }) {
  if (username === null) return 'People appear here after they press Start in the bot.'
  return (
    <>
      Share <b dir="ltr">t.me/{username}</b>: people appear here as soon as they press Start.
    </>
  )
}

const COLUMNS: readonly Column<BotSubscriber>[] = [
  {
    title: 'Name',
    width: 'minmax(130px, 1.5fr)',
    render: subscriber => <NameCell name={nameOf(subscriber)} />,
  },
  {
    title: 'Username',
    width: 'minmax(110px, 1fr)',
    wideOnly: true,
    render: ({ username }) => (username === null ? '–' : <bdi>@{username}</bdi>),
  },
  {
    title: 'Chat',
    width: '140px',
    wideOnly: true,
    render: ({ chatId }) => <span className="ph-mono">{chatId}</span>,
  },
  {
    title: 'Start parameter',
    width: 'minmax(100px, 1fr)',
    wideOnly: true,
    render: ({ startPayload }) => (startPayload === null ? '–' : <bdi>{startPayload}</bdi>),
  },
  {
    title: 'State',
    width: '110px',
    wideOnly: true,
    render: ({ blockedAt }) =>
      blockedAt === null ? (
        <StatusBadge status="active" />
      ) : (
        <StatusBadge status="blocked" tone="bad" label="Bot blocked" />
      ),
  },
  { title: 'Last seen', width: '96px', wideOnly: true, render: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
  {
    title: 'Actions',
    hidesTitle: true,
    width: '104px',
    align: 'end',
    render: subscriber =>
      subscriber.blockedAt === null && (
        <WriteTo name={nameOf(subscriber)} conversation={subscriber.conversationContext} />
      ),
  },
]

function nameOf({ firstName, lastName, username, chatId }: BotSubscriber): string {
  return [firstName, lastName].filter(Boolean).join(' ') || username || chatId
}
