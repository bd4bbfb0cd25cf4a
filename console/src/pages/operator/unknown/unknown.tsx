import { Text } from '@mantine/core'
import { CircleHelp } from 'lucide-react'
import { useState } from 'react'
import type { UnknownMessage } from '../../../../../sdk/index.ts'
import { useReadPages } from '../../../api/use-read.ts'
import { channelName } from '../../../parts/channel-name.ts'
import { CopyId } from '../../../parts/copy-id.tsx'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { Money } from '../../../parts/money.tsx'
import { Page } from '../../../parts/page.tsx'
import { Facts, SidePanel } from '../../../parts/side-panel.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { formatTime, Time } from '../../../parts/time.tsx'
import { typeName } from '../../../parts/type-name.ts'
import { AccountLink } from '../account-names.tsx'

const POLL_EVERY_MS = 10_000

/** Messages of unknown outcome; those whose deadline is nearest first. */
export default function Unknown() {
  const unknown = useReadPages('/api/admin/unknown', {}, { everyMs: POLL_EVERY_MS })
  const [opened, setOpened] = useState<UnknownMessage | null>(null)
  return (
    <Page
      title="Unknown outcomes"
      lead="Messages that may have been sent, but whose provider did not answer. They are not sent again. The provider is asked where possible; a message that stays unknown counts as sent in the end."
    >
      <DataList
        label="Unknown outcomes"
        read={unknown}
        columns={COLUMNS}
        rowKey={({ messageId, attempt }) => `${messageId} ${attempt}`}
        onOpen={setOpened}
        empty={
          <EmptyNote
            icon={CircleHelp}
            title="Every outcome is known"
            text="Messages appear here if the provider did not answer after it was given the message."
          />
        }
      />
      <SidePanel
        opened={opened !== null}
        onClose={() => setOpened(null)}
        title={<span dir="ltr">{opened?.to}</span>}
        aside={<StatusBadge status="unknown" />}
      >
        {opened && <UnknownDetails message={opened} />}
      </SidePanel>
    </Page>
  )
}

function UnknownDetails({ message }: { message: UnknownMessage }) {
  const { messageId, accountId, accountName, detail, cost, currency } = message
  return (
    <Facts
      facts={[
        ['Account', <AccountLink key="a" id={accountId} name={accountName} />],
        ['Message', <CopyId key="m" id={messageId} />],
        ['Channel', channelName(message.channel)],
        ['Type', typeName(message.messageType)],
        ['Provider', message.provider],
        [
          'Connection',
          <span key="c" className="ph-mono">
            {message.connectionId}
          </span>,
        ],
        ['Attempt', String(message.attempt)],
        detail === null
          ? null
          : [
              'Details',
              <span key="d" className="ph-words">
                {detail}
              </span>,
            ],
        ['Price', <Money key="h" amount={cost} currency={currency} />],
        ['Unknown since', formatTime(message.unknownAt)],
        ['Counts as sent', formatTime(message.closesAt)],
        ['Provider asked', message.asks === 1 ? 'Once' : `${message.asks} times`],
      ]}
    />
  )
}

const COLUMNS: readonly Column<UnknownMessage>[] = [
  {
    title: 'To',
    width: 'minmax(112px, 1.4fr)',
    render: ({ to }) => (
      <Text span size="sm" fw={500} dir="ltr" truncate>
        {to}
      </Text>
    ),
  },
  { title: 'Account', width: 'minmax(70px, 1.2fr)', render: ({ accountName }) => <bdi>{accountName}</bdi> },
  {
    title: 'Channel',
    width: 'minmax(110px, 1fr)',
    wideOnly: true,
    render: ({ channel }) => channelName(channel),
  },
  { title: 'Provider', width: 'minmax(80px, 1fr)', wideOnly: true, render: ({ provider }) => provider },
  {
    title: 'Price',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ cost, currency }) => <Money amount={cost} currency={currency} />,
  },
  {
    title: 'Since',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ unknownAt }) => <Time at={unknownAt} />,
  },
  {
    title: 'Counts as sent',
    width: '120px',
    align: 'end',
    render: ({ closesAt }) => <Time at={closesAt} />,
  },
]
