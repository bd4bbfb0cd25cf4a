import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { MailPlus, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { Invitation } from '../../../../sdk/index.ts'
import { useAction, useReadPages } from '../../api/use-read.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { inWords, StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { tellDone } from '../../parts/toast.tsx'

const PATH = '/api/v2/members/invitations'
/** Somebody may accept at any moment. */
const LOOK_EVERY_MS = 10_000

export function Invitations({ onInvite }: { onInvite: () => void }) {
  const invitations = useReadPages(PATH, {}, { everyMs: LOOK_EVERY_MS })
  const [asked, setAsked] = useState<Invitation | null>(null)
  const withdraw = useAction(
    (api, id: string) => api.delete('/api/v2/members/invitations/{id}', { path: { id } }),
    { changes: [PATH], onDone: () => tellDone('The link works no more.') },
  )
  return (
    <>
      <DataList
        label="Invitations"
        read={invitations}
        rowKey={({ id }) => id}
        height="400px"
        columns={[
          ...COLUMNS,
          {
            title: '',
            width: '40px',
            align: 'end',
            render: invitation =>
              invitation.status === 'pending' && (
                <Tooltip label="Take it back">
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`Take back the invitation of ${invitation.email}`}
                    onClick={() => setAsked(invitation)}
                  >
                    <Undo2 size={15} />
                  </ActionIcon>
                </Tooltip>
              ),
          },
        ]}
        empty={
          <EmptyNote
            icon={MailPlus}
            title="Nobody is invited"
            text="Whom you invite gets a link, and chooses a password of their own."
            action={
              <Button variant="default" onClick={onInvite}>
                Invite somebody
              </Button>
            }
          />
        }
      />
      <ConfirmDialog
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title="Take this invitation back?"
        text={
          asked && (
            <>
              The link that <bdi>{asked.email}</bdi> has works no more.
            </>
          )
        }
        confirmLabel="Take it back"
        run={() => (asked ? withdraw.mutateAsync(asked.id) : Promise.resolve())}
      />
    </>
  )
}

const COLUMNS: readonly Column<Invitation>[] = [
  { title: 'E-mail', width: 'minmax(150px, 1.6fr)', render: ({ email }) => <bdi>{email}</bdi> },
  { title: 'As', width: '90px', wideOnly: true, render: ({ role }) => inWords(role) },
  { title: 'Status', width: '110px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'By',
    width: 'minmax(120px, 1fr)',
    wideOnly: true,
    render: ({ invitedBy }) => <bdi>{invitedBy}</bdi>,
  },
  {
    title: 'Ends',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ status, expiresAt }) => (status === 'pending' ? <Time at={expiresAt} /> : '–'),
  },
]
