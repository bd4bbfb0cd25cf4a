import { Button, Group, Stack } from '@mantine/core'
import { UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { AdminAccount, Person } from '../../../../../sdk/index.ts'
import { useReadPages } from '../../../api/use-read.ts'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { humanize } from '../../../parts/status-badge.tsx'
import { useShowOnce } from '../../../parts/use-show-once.tsx'
import { type CreatedLink, LinkDialog } from '../../members/link-dialog.tsx'
import { InvitePerson } from '../people/invite-person.tsx'
import { PEOPLE } from '../people/paths.ts'
import { PERSON_COLUMNS } from '../people/person-columns.tsx'

/** The people who may act for the account. The operator invites its first owner here. */
export default function AccountPeople({ account }: { account: AdminAccount }) {
  const [, go] = useLocation()
  const people = useReadPages(PEOPLE, { query: { accountId: account.id } })
  const [inviting, setInviting] = useState(false)
  const [made, setMade] = useState<CreatedLink | null>(null)
  const showOnce = useShowOnce()
  const invite = (
    <Button leftSection={<UserPlus size={16} />} onClick={() => setInviting(true)}>
      Invite somebody
    </Button>
  )
  const role: Column<Person> = {
    title: 'Role',
    width: '64px',
    render: ({ memberships }) =>
      humanize(memberships.find(({ accountId }) => accountId === account.id)?.role ?? 'member'),
  }
  return (
    <Stack gap="sm">
      <DataList
        label="People of the account"
        read={people}
        columns={[...PERSON_COLUMNS, role]}
        rowKey={({ id }) => id}
        // By their address: of many people the list there begins with others.
        onOpen={({ id, email }) => go(`/operator/people/${id}?${new URLSearchParams({ q: email })}`)}
        height="480px"
        empty={
          <EmptyNote
            icon={Users}
            title="No people yet"
            text="Invite the first owner, who can then invite others and create keys."
            action={invite}
          />
        }
      />
      {people.rows.length > 0 && <Group>{invite}</Group>}
      <InvitePerson
        opened={inviting}
        accountId={account.id}
        onClose={() => setInviting(false)}
        onMade={link => {
          setInviting(false)
          showOnce(`The link for ${link.email}`, link.link, () => setMade(link))
        }}
      />
      <LinkDialog made={made} onClose={() => setMade(null)} />
    </Stack>
  )
}
