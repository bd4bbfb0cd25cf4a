import { Button } from '@mantine/core'
import { MailPlus } from 'lucide-react'
import { useState } from 'react'
import type { Invitation } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { invitationColumns, WithdrawInvitation, withdrawColumn } from './invitation-rows.tsx'

const PATH = '/api/v2/members/invitations'
/** An invitation may be accepted at any time. */
const POLL_EVERY_MS = 10_000

export function Invitations({ onInvite }: { onInvite: () => void }) {
  const invitations = useReadPages(PATH, {}, { everyMs: POLL_EVERY_MS })
  const [asked, setAsked] = useState<Invitation | null>(null)
  return (
    <>
      <DataList
        label="Invitations"
        read={invitations}
        rowKey={({ id }) => id}
        height="400px"
        columns={[...invitationColumns(), withdrawColumn(setAsked)]}
        empty={
          <EmptyNote
            icon={MailPlus}
            title="No invitations"
            text="People whom you invite get a link and choose their own password."
            action={
              <Button variant="default" onClick={onInvite}>
                Invite somebody
              </Button>
            }
          />
        }
      />
      <WithdrawInvitation
        invitation={asked}
        onClose={() => setAsked(null)}
        changes={[PATH]}
        withdraw={(api, id) => api.delete('/api/v2/members/invitations/{id}', { path: { id } })}
      />
    </>
  )
}
