import { Button } from '@mantine/core'
import { Bot, Plus } from 'lucide-react'
import { useState } from 'react'
import type { BotView } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { NameCell, SandboxBadge } from '../../parts/name-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { MaybeTime } from '../../parts/time.tsx'
import { useGo } from '../../parts/use-go.ts'
import { BOTS } from './paths.ts'
import { RegisterBot } from './register-bot.tsx'

const POLL_EVERY_MS = 10_000

export function BotList() {
  const go = useGo()
  const bots = useReadPages(BOTS, {}, { everyMs: POLL_EVERY_MS })
  const [adding, setAdding] = useState(false)
  const add = (
    <Button leftSection={<Plus size={16} />} onClick={() => setAdding(true)}>
      Add a bot
    </Button>
  )
  return (
    <Page
      title="Bots"
      lead="Your Telegram bots. People who start a bot become its subscribers, and you can send them messages."
      actions={add}
    >
      <DataList
        label="Bots"
        read={bots}
        columns={COLUMNS}
        rowKey={bot => bot.id}
        onOpen={bot => go(`/bots/${bot.id}`)}
        empty={
          <EmptyNote
            icon={Bot}
            title="No bots yet"
            text={
              <>
                Create one with <b>@BotFather</b> on Telegram, then enter its token here.
              </>
            }
            action={add}
          />
        }
      />
      <RegisterBot
        title="Add the bot"
        opened={adding}
        onClose={() => setAdding(false)}
        onMade={({ id }) => {
          setAdding(false)
          go(`/bots/${id}`)
        }}
      />
    </Page>
  )
}

export function BotState({ bot: { state } }: { bot: BotView }) {
  return state === 'active' ? (
    <StatusBadge status="active" />
  ) : (
    <StatusBadge status={state} tone="bad" label="Token rejected" />
  )
}

const COLUMNS: readonly Column<BotView>[] = [
  {
    title: 'Name',
    width: 'minmax(104px, 1.6fr)',
    render: ({ name, sandbox }) => <NameCell name={name} badge={sandbox && <SandboxBadge />} />,
  },
  {
    title: 'Username',
    width: 'minmax(120px, 1.2fr)',
    wideOnly: true,
    render: ({ username }) => (username === null ? '–' : <bdi>@{username}</bdi>),
  },
  { title: 'State', width: '116px', render: bot => <BotState bot={bot} /> },
  {
    title: 'Subscribers',
    width: '84px',
    align: 'end',
    render: ({ subscribers }) => <span className="ph-num">{subscribers.toLocaleString()}</span>,
  },
  {
    title: 'Last update',
    width: '120px',
    align: 'end',
    wideOnly: true,
    render: ({ lastUpdateAt }) => <MaybeTime at={lastUpdateAt} none="Never" />,
  },
]
