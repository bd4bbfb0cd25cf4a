import { Alert, Button } from '@mantine/core'
import { Plus, Smartphone, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { WebSessionRow } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { NameCell, SandboxBadge } from '../../parts/name-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useGo } from '../../parts/use-go.ts'
import { CreateSession } from './create-session.tsx'
import { SESSIONS } from './paths.ts'

const POLL_EVERY_MS = 3_000

export function SessionList() {
  const go = useGo()
  const sessions = useReadPages(SESSIONS, {}, { everyMs: POLL_EVERY_MS })
  const [making, setMaking] = useState(false)
  const make = (
    <Button leftSection={<Plus size={16} />} onClick={() => setMaking(true)}>
      Link a phone
    </Button>
  )
  return (
    <Page
      title="Web sessions"
      lead="The WhatsApp of a phone, linked in the same way as WhatsApp Web. Messages are sent from that phone’s number."
      actions={make}
    >
      <BanRisk />
      <DataList
        label="Web sessions"
        read={sessions}
        columns={COLUMNS}
        rowKey={session => session.name}
        onOpen={session => go(`/sessions/${session.name}`)}
        height="calc(100dvh - 330px)"
        empty={
          <EmptyNote
            icon={Smartphone}
            title="No phone is linked"
            text="Link one by scanning a code with it, or by typing a code on it."
            action={make}
          />
        }
      />
      <CreateSession
        opened={making}
        onClose={() => setMaking(false)}
        onMade={name => {
          setMaking(false)
          go(`/sessions/${name}`)
        }}
      />
    </Page>
  )
}

function BanRisk() {
  return (
    <Alert
      color="brass"
      variant="light"
      mb="md"
      icon={<TriangleAlert size={16} />}
      title="WhatsApp may ban the number"
    >
      WhatsApp intends this for people, not for programs. Link a number that you can afford to lose, write to
      people who know you, and send no one-time codes this way.
    </Alert>
  )
}

const COLUMNS: readonly Column<WebSessionRow>[] = [
  {
    title: 'Name',
    width: 'minmax(120px, 1.4fr)',
    render: ({ name, sandbox }) => <NameCell name={name} badge={sandbox && <SandboxBadge />} />,
  },
  { title: 'State', width: '140px', render: ({ state }) => <StatusBadge status={state} /> },
  {
    title: 'Phone',
    width: '150px',
    wideOnly: true,
    render: ({ phone }) => <bdi className="ph-num">{phone ?? '–'}</bdi>,
  },
  {
    title: 'Profile name',
    width: 'minmax(110px, 1fr)',
    wideOnly: true,
    render: ({ pushName }) => (pushName === null ? '–' : <bdi>{pushName}</bdi>),
  },
  {
    title: 'Rate',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ pace }) => <span className="ph-num">{pace.messagesPerMinute} / min</span>,
  },
  {
    title: 'Since',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ changedAt }) => <Time at={changedAt} />,
  },
]
