import { ActionIcon, Tooltip } from '@mantine/core'
import { Undo2 } from 'lucide-react'
import type { Invitation, Posthorn } from '../../../../sdk/index.ts'
import { useAction } from '../../api/use-read.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import type { Column } from '../../parts/data-list.tsx'
import { humanize, StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { notifyDone } from '../../parts/toast.tsx'

/** The columns of an invitation in any list, with `more` columns of that list. */
export function invitationColumns<R extends Invitation>(...more: Column<R>[]): Column<R>[] {
  return [...BASE_COLUMNS, ...more, ENDS]
}

const BASE_COLUMNS: readonly Column<Invitation>[] = [
  { title: 'E-mail', width: 'minmax(150px, 1.6fr)', render: ({ email }) => <bdi>{email}</bdi> },
  { title: 'Role', width: '90px', wideOnly: true, render: ({ role }) => humanize(role) },
  { title: 'Status', width: '110px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Invited by',
    width: 'minmax(120px, 1fr)',
    wideOnly: true,
    render: ({ invitedBy }) => <bdi>{invitedBy}</bdi>,
  },
]

const ENDS: Column<Invitation> = {
  title: 'Expires',
  width: '100px',
  align: 'end',
  wideOnly: true,
  render: ({ status, expiresAt }) => (status === 'pending' ? <Time at={expiresAt} /> : '–'),
}

export function withdrawColumn<R extends Invitation>(onAsk: (invitation: R) => void): Column<R> {
  return {
    title: 'Actions',
    hidesTitle: true,
    width: '40px',
    align: 'end',
    render: invitation =>
      invitation.status === 'pending' && (
        <Tooltip label="Withdraw">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Withdraw the invitation of ${invitation.email}`}
            onClick={() => onAsk(invitation)}
          >
            <Undo2 size={15} />
          </ActionIcon>
        </Tooltip>
      ),
  }
}

export function WithdrawInvitation({
  invitation,
  onClose,
  withdraw,
  changes,
}: {
  invitation: Invitation | null
  onClose: () => void
  withdraw: (api: Posthorn, id: string) => Promise<unknown>
  changes: readonly string[]
}) {
  const act = useAction(withdraw, { changes, onDone: () => notifyDone('The link no longer works.') })
  return (
    <ConfirmDialog
      opened={invitation !== null}
      onClose={onClose}
      title="Withdraw this invitation?"
      text={
        invitation && (
          <>
            The link for <bdi>{invitation.email}</bdi> stops working.
          </>
        )
      }
      confirmLabel="Withdraw the invitation"
      run={() => (invitation ? act.mutateAsync(invitation.id) : Promise.resolve())}
    />
  )
}
