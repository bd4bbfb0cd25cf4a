import { Badge, Button, Stack, Title } from '@mantine/core'
import { UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import type { Member } from '../../../../sdk/index.ts'
import { useAction, useReadPages } from '../../api/use-read.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { humanize } from '../../parts/status-badge.tsx'
import { MaybeTime } from '../../parts/time.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useShowOnce } from '../../parts/use-show-once.tsx'
import { useSession } from '../../session/context.tsx'
import { ChangeMember } from './change-member.tsx'
import { Invitations } from './invitations.tsx'
import { Invite } from './invite.tsx'
import { LinkDialog } from './link-dialog.tsx'
import { MemberMenu } from './member-menu.tsx'
import { MEMBERS, permissionsLabel } from './permissions.ts'
import { withRemainingKeys } from './remaining-keys.ts'

type Open =
  | { what: 'invite' }
  | { what: 'change' | 'remove'; member: Member }
  | { what: 'invited'; link: string; mail: string; email: string }
  | null

/** The account's members and invitations; for owners only. */
export default function Members() {
  const { session } = useSession()
  const members = useReadPages(MEMBERS)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const showOnce = useShowOnce()
  /** As the list has it now: another owner may have changed the member since the dialog was opened. */
  const changing = open?.what === 'change' ? open.member : null
  const current = members.rows.find(({ id }) => id === changing?.id) ?? changing
  const remove = useAction((api, id: string) => api.delete('/api/v2/members/{id}', { path: { id } }), {
    changes: [MEMBERS],
    onDone: ({ data }) => notifyDone(withRemainingKeys('They can no longer act for this account.', data)),
  })
  return (
    <Page
      title="Members"
      lead="Owners can do everything. Members can do what you allow them, and cannot open this page or the audit log."
      actions={
        <Button leftSection={<UserPlus size={16} />} onClick={() => setOpen({ what: 'invite' })}>
          Invite somebody
        </Button>
      }
    >
      <Stack gap="xl">
        <DataList
          label="Members"
          read={members}
          rowKey={member => member.id}
          height="480px"
          columns={[
            nameColumn(session.user.id),
            ...COLUMNS,
            {
              title: 'Actions',
              hidesTitle: true,
              width: '40px',
              align: 'end',
              render: member => (
                <MemberMenu
                  member={member}
                  onChange={() => setOpen({ what: 'change', member })}
                  onRemove={() => setOpen({ what: 'remove', member })}
                />
              ),
            },
          ]}
          empty={
            <EmptyNote icon={Users} title="No members" text="Invite somebody to act for this account." />
          }
        />
        <div>
          <Title order={2} size="h3" mb="sm">
            Invitations
          </Title>
          <Invitations onInvite={() => setOpen({ what: 'invite' })} />
        </div>
      </Stack>
      <Invite
        opened={open?.what === 'invite'}
        onClose={close}
        onMade={made =>
          showOnce(`The link for ${made.email}`, made.link, () => setOpen({ what: 'invited', ...made }))
        }
      />
      <LinkDialog made={open?.what === 'invited' ? open : null} onClose={close} />
      <ChangeMember member={current} onClose={close} />
      <ConfirmDialog
        opened={open?.what === 'remove'}
        onClose={close}
        title="Remove this member?"
        text={
          open?.what === 'remove' && (
            <>
              <b>
                <bdi>{open.member.name}</bdi>
              </b>{' '}
              loses access to this account within a second. Their login stays, and the keys that they created
              keep working.
            </>
          )
        }
        confirmLabel="Remove the member"
        run={() => (open?.what === 'remove' ? remove.mutateAsync(open.member.id) : Promise.resolve())}
      />
    </Page>
  )
}

function nameColumn(ownId: string): Column<Member> {
  return {
    title: 'Name',
    width: 'minmax(130px, 1.3fr)',
    render: ({ id, name }) => (
      <NameCell
        name={name}
        badge={
          id === ownId && (
            <Badge size="sm" variant="default">
              You
            </Badge>
          )
        }
      />
    ),
  }
}

const COLUMNS: readonly Column<Member>[] = [
  {
    title: 'E-mail',
    width: 'minmax(150px, 1.5fr)',
    wideOnly: true,
    render: ({ email }) => <bdi>{email}</bdi>,
  },
  { title: 'Role', width: '90px', render: ({ role }) => humanize(role) },
  { title: 'Permissions', width: 'minmax(140px, 1.3fr)', wideOnly: true, render: permissionsLabel },
  {
    title: 'Second factor',
    width: '120px',
    wideOnly: true,
    render: ({ totp }) => (totp ? 'On' : <span style={{ color: 'var(--ph-warn)' }}>Off</span>),
  },
  {
    title: 'Last seen',
    width: '100px',
    wideOnly: true,
    render: ({ lastSeenAt }) => <MaybeTime at={lastSeenAt} none="Never" />,
  },
]
