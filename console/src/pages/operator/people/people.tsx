import { Button, Stack, Title } from '@mantine/core'
import { UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import type { Person } from '../../../../../sdk/index.ts'
import { useReadPages } from '../../../api/use-read.ts'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyList } from '../../../parts/empty-list.tsx'
import { FilterBar, TextFilter } from '../../../parts/filter-bar.tsx'
import { Page } from '../../../parts/page.tsx'
import { useFilters } from '../../../parts/use-filters.ts'
import { useGo } from '../../../parts/use-go.ts'
import { useShowOnce } from '../../../parts/use-show-once.tsx'
import { type CreatedLink, LinkDialog } from '../../members/link-dialog.tsx'
import { AllInvitations } from './all-invitations.tsx'
import { InvitePerson } from './invite-person.tsx'
import { PEOPLE } from './paths.ts'
import { PERSON_COLUMNS } from './person-columns.tsx'
import { PersonPanel } from './person-panel.tsx'

/** Everybody who has a login, in whatever account. */
export default function People({ personId }: { personId?: string }) {
  const go = useGo()
  const [filters, setFilters, clear] = useFilters(['q'])
  const people = useReadPages(PEOPLE, { query: filters })
  const [inviting, setInviting] = useState(false)
  const [made, setMade] = useState<CreatedLink | null>(null)
  const showOnce = useShowOnce()
  const open = (id: string | null) => go(`/operator/people${id === null ? '' : `/${id}`}${location.search}`)
  return (
    <Page
      title="People"
      lead="Everybody who has a login: operators of this server, owners and members of accounts."
      actions={
        <Button leftSection={<UserPlus size={16} />} onClick={() => setInviting(true)}>
          Invite somebody
        </Button>
      }
    >
      <FilterBar onClear={clear}>
        <TextFilter label="Name or e-mail" value={filters.q} onChange={q => setFilters({ q })} />
      </FilterBar>
      <Stack gap="xl">
        <DataList
          label="People"
          read={people}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          onOpen={({ id }) => open(id)}
          opened={personId ?? null}
          height="520px"
          empty={
            <EmptyList
              icon={Users}
              clear={clear}
              noMatch={{
                title: 'No matching people',
                text: 'Search for a part of the name or e-mail address.',
              }}
              title="No people yet"
              text="Invite somebody to an account, or as an operator."
            />
          }
        />
        <div>
          <Title order={2} size="h3" mb="sm">
            Invitations
          </Title>
          <AllInvitations />
        </div>
      </Stack>
      <PersonPanel personId={personId ?? null} onClose={() => open(null)} />
      <InvitePerson
        opened={inviting}
        onClose={() => setInviting(false)}
        onMade={link => {
          setInviting(false)
          showOnce(`The link for ${link.email}`, link.link, () => setMade(link))
        }}
      />
      <LinkDialog made={made} onClose={() => setMade(null)} />
    </Page>
  )
}

const COLUMNS: readonly Column<Person>[] = [
  ...PERSON_COLUMNS,
  {
    title: 'Accounts',
    width: 'minmax(140px, 1.6fr)',
    wideOnly: true,
    render: ({ memberships, operator }) => (
      <bdi>{accountLabels({ memberships, operator }).join(', ') || 'No account'}</bdi>
    ),
  },
]

function accountLabels({ memberships, operator }: Pick<Person, 'memberships' | 'operator'>): string[] {
  const accounts = memberships.map(({ accountName, role }) => `${accountName} (${role})`)
  return operator ? ['Operator', ...accounts] : accounts
}
