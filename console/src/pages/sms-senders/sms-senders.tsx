import { Alert, Button, Stack, Text } from '@mantine/core'
import { CircleAlert, Plus, Signature } from 'lucide-react'
import { useState } from 'react'
import type { SmsSenderView } from '../../../../sdk/index.ts'
import { useAction, useReadPages } from '../../api/use-read.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { defaultColumn } from '../../parts/default-column.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { Facts, SidePanel } from '../../parts/side-panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import { SMS_SENDERS } from './paths.ts'
import { RequestSender } from './request-sender.tsx'

/** The operator may decide at any time. */
const POLL_EVERY_MS = 3_000

/** SMS sender names: requested by owners, reviewed by the operator. */
export default function SmsSenders() {
  const { may } = useSession()
  const owner = may('owner')
  const senders = useReadPages(SMS_SENDERS, {}, { everyMs: POLL_EVERY_MS })
  const [asking, setAsking] = useState(false)
  const [opened, setOpened] = useState<string | null>(null)
  const makeDefault = useAction(
    (api, { id }: SmsSenderView) => api.post('/api/v2/sms-senders/{id}/default', { path: { id } }),
    {
      changes: [SMS_SENDERS, '/api/v2/account'],
      onDone: ({ data }) => notifyDone(`${data.name} is the default SMS sender now.`),
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
      lead="The name that recipients see as the sender of an SMS. The operator reviews each name before it can be used."
      actions={ask}
    >
      <DataList
        label="SMS senders"
        read={senders}
        rowKey={sender => sender.id}
        onOpen={({ id }) => setOpened(id)}
        opened={opened}
        columns={[
          ...COLUMNS,
          defaultColumn({
            nameOf: ({ name }) => name,
            may: ({ status }) => status === 'approved',
            choose: makeDefault,
          }),
        ]}
        empty={
          <EmptyNote
            icon={Signature}
            title="No names yet"
            text={
              owner
                ? 'Until a name is approved, SMS are sent from a platform number. Request your brand’s name.'
                : 'Until a name is approved, SMS are sent from a platform number. Owners of the account can request one.'
            }
            action={ask}
          />
        }
      />
      <SenderPanel
        sender={senders.rows.find(({ id }) => id === opened) ?? null}
        onClose={() => setOpened(null)}
      />
      <RequestSender opened={asking} onClose={() => setAsking(false)} />
    </Page>
  )
}

const COLUMNS: readonly Column<SmsSenderView>[] = [
  { title: 'Name', width: 'minmax(90px, 1fr)', render: ({ name }) => <NameCell name={name} /> },
  {
    title: 'Status',
    width: '94px',
    render: ({ status }) => (
      <StatusBadge status={status} {...(status === 'pending' && { label: 'In review' })} />
    ),
  },
  {
    title: 'Reason',
    width: 'minmax(170px, 2fr)',
    wideOnly: true,
    render: ({ reason, status }) =>
      reason === null ? (
        <span style={{ color: 'var(--ph-quiet)' }}>{status === 'pending' ? 'Nothing yet' : '–'}</span>
      ) : (
        <bdi title={reason}>{reason}</bdi>
      ),
  },
]

/** One name with its decision and the reason. */
function SenderPanel({ sender, onClose }: { sender: SmsSenderView | null; onClose: () => void }) {
  return (
    <SidePanel
      opened={sender !== null}
      onClose={onClose}
      title={<bdi>{sender?.name}</bdi>}
      aside={sender && <StatusBadge status={sender.status} />}
    >
      {sender && (
        <Stack gap="lg">
          {sender.status === 'rejected' && (
            <Alert color="red" variant="light" icon={<CircleAlert size={16} />} title="Why it was rejected">
              <span className="ph-words">{sender.reason ?? 'The operator gave no reason.'}</span>
            </Alert>
          )}
          {sender.status === 'pending' && (
            <Text c="dimmed">The operator is reviewing the name; until then it cannot be used.</Text>
          )}
          <Facts
            facts={[
              ['Default', sender.isDefault ? 'Yes' : 'No'],
              [
                'After the decision',
                sender.webhookConfigured ? 'Your webhook is called' : 'It is shown here',
              ],
              ['Id', <CopyId key="i" id={sender.id} />],
            ]}
          />
          {sender.status === 'rejected' && (
            <Text size="sm" c="dimmed">
              A rejected name cannot be requested again: request another one.
            </Text>
          )}
        </Stack>
      )}
    </SidePanel>
  )
}
