import { MailPlus } from 'lucide-react'
import { useState } from 'react'
import type { AdminInvitation } from '../../../../../sdk/index.ts'
import { useReadPages } from '../../../api/use-read.ts'
import { DataList } from '../../../parts/data-list.tsx'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { invitationColumns, WithdrawInvitation, withdrawColumn } from '../../members/invitation-rows.tsx'

const PATH = '/api/admin/members/invitations'
/** An invitation may be accepted at any time. */
const POLL_EVERY_MS = 10_000

/** All invitations of all accounts. */
export function AllInvitations() {
  const invitations = useReadPages(PATH, {}, { everyMs: POLL_EVERY_MS })
  const [asked, setAsked] = useState<AdminInvitation | null>(null)
  return (
    <>
      <DataList
        label="Invitations"
        read={invitations}
        rowKey={({ id }) => id}
        height="400px"
        columns={[
          ...invitationColumns<AdminInvitation>({
            title: 'Account',
            width: 'minmax(110px, 1fr)',
            wideOnly: true,
            render: ({ accountName }) => <bdi>{accountName ?? 'This server'}</bdi>,
          }),
          withdrawColumn<AdminInvitation>(setAsked),
        ]}
        empty={
          <EmptyNote
            icon={MailPlus}
            title="No invitations"
            text="People whom you invite get a link from you and choose their own password."
          />
        }
      />
      <WithdrawInvitation
        invitation={asked}
        onClose={() => setAsked(null)}
        changes={[PATH]}
        withdraw={(api, id) => api.delete('/api/admin/members/invitations/{id}', { path: { id } })}
      />
    </>
  )
}
