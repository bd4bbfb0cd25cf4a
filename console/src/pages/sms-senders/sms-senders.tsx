import { Button, Text } from '@mantine/core'
import { Plus, Signature } from 'lucide-react'
import { useState } from 'react'
import type { SmsSenderView } from '../../../../sdk/index.ts'
import { useAction, useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { DefaultChoice } from '../../parts/default-choice.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { Page } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { tellDone, tellFault } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import { SMS_SENDERS } from './paths.ts'
import { RequestSender } from './request-sender.tsx'

/** The operator may decide at any moment. */
const LOOK_EVERY_MS = 3_000

/** Names that stand above an SMS: asked for by owners, reviewed by the operator. */
export default function SmsSenders() {
  const { may } = useSession()
  const owner = may('owner')
  const senders = useReadPages(SMS_SENDERS, {}, { everyMs: LOOK_EVERY_MS })
  const [asking, setAsking] = useState(false)
  const prefer = useAction(
    (api, { id }: SmsSenderView) => api.post('/api/v2/sms-senders/{id}/default', { path: { id } }),
    {
      changes: [SMS_SENDERS, '/api/v2/account'],
      onDone: ({ data }) => tellDone(`SMS that name no sender come from ${data.name} now.`),
    },
  )
  const ask = owner && (
    <Button leftSection={<Plus size={16} />} onClick={() => setAsking(true)}>
      Request a name
    </Button>
  )
  return (
    <Page
      title="SMS senders"
      lead="The name that stands above an SMS. The operator reviews each before it is used."
      actions={ask}
    >
      <DataList
        label="SMS senders"
        read={senders}
        rowKey={sender => sender.id}
        columns={[
          ...COLUMNS,
          {
            title: '',
            width: '116px',
            align: 'end',
            render: sender =>
              sender.status === 'approved' && (
                <DefaultChoice
                  name={sender.name}
                  isDefault={sender.isDefault}
                  busy={prefer.isPending && prefer.variables.id === sender.id}
                  onChoose={() => prefer.mutate(sender, { onError: tellFault })}
                />
              ),
          },
        ]}
        empty={
          <EmptyNote
            icon={Signature}
            title="No names yet"
            text={
              owner
                ? 'Until one is approved, SMS come from a number of the platform’s. Ask for your brand’s name.'
                : 'Until one is approved, SMS come from a number of the platform’s. Owners of the account ask for one.'
            }
            action={ask}
          />
        }
      />
      <RequestSender opened={asking} onClose={() => setAsking(false)} />
    </Page>
  )
}

const COLUMNS: readonly Column<SmsSenderView>[] = [
  {
    title: 'Name',
    width: 'minmax(90px, 1.6fr)',
    render: ({ name }) => (
      <Text span fw={500} size="sm" truncate>
        <bdi>{name}</bdi>
      </Text>
    ),
  },
  {
    title: 'Status',
    width: '94px',
    render: ({ status }) => (
      <StatusBadge status={status} {...(status === 'pending' && { label: 'In review' })} />
    ),
  },
  {
    title: 'When decided',
    width: 'minmax(160px, 1fr)',
    wideOnly: true,
    render: ({ webhookConfigured }) =>
      webhookConfigured ? (
        'Your address is called'
      ) : (
        <span style={{ color: 'var(--ph-quiet)' }}>Look here</span>
      ),
  },
  {
    title: 'Id',
    width: 'minmax(220px, 1.4fr)',
    wideOnly: true,
    render: ({ id }) => <span className="ph-mono">{id}</span>,
  },
]
