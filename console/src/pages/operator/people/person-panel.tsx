import { Button, Skeleton, Stack, Switch, Text, Title } from '@mantine/core'
import { KeyRound, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Person } from '../../../../../sdk/index.ts'
import { useAction, useRead } from '../../../api/use-read.ts'
import { ConfirmDialog } from '../../../parts/confirm.tsx'
import { CopyId } from '../../../parts/copy-id.tsx'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Facts, SidePanel } from '../../../parts/side-panel.tsx'
import { MaybeTime, Time } from '../../../parts/time.tsx'
import { notifyDone, notifyFault } from '../../../parts/toast.tsx'
import { useShowOnce } from '../../../parts/use-show-once.tsx'
import { useSession } from '../../../session/context.tsx'
import { type CreatedLink, LinkDialog } from '../../members/link-dialog.tsx'
import { permissionsLabel } from '../../members/permissions.ts'
import { withRemainingKeys } from '../../members/remaining-keys.ts'
import { AccountLink } from '../account-names.tsx'
import { PEOPLE } from './paths.ts'

/** One login: its accounts and roles, a password reset, and its removal. */
export function PersonPanel({ personId, onClose }: { personId: string | null; onClose: () => void }) {
  const read = useRead(
    '/api/admin/members/{id}',
    { path: { id: personId ?? '' } },
    { enabled: personId !== null },
  )
  const person = (personId !== null && read.data?.data) || null
  const { session } = useSession()
  const [asked, setAsked] = useState<'reset' | 'remove' | null>(null)
  // The back button leaves the person under the dialog, which must not ask about the next one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when the person changes
  useEffect(() => setAsked(null), [personId])
  const [made, setMade] = useState<CreatedLink | null>(null)
  const showOnce = useShowOnce()
  const path = { id: personId ?? '' }
  const reset = useAction(api => api.post('/api/admin/members/{id}/reset', { path }), {
    onDone({ data: { link } }) {
      const email = person?.email ?? ''
      showOnce(`The link for ${email}`, link, () => setMade({ link, mail: 'not_asked', email }))
    },
  })
  const remove = useAction(api => api.delete('/api/admin/members/{id}', { path }), {
    changes: [PEOPLE],
    onDone({ data }) {
      notifyDone(withRemainingKeys('The login is removed, and signed out everywhere.', data))
      onClose()
    },
  })
  const own = personId === session.user.id
  return (
    <>
      <SidePanel
        opened={personId !== null}
        onClose={onClose}
        title={person ? <bdi>{person.name}</bdi> : 'Person'}
        foot={
          person &&
          !own && (
            <>
              <Button
                variant="default"
                leftSection={<KeyRound size={15} />}
                onClick={() => setAsked('reset')}
              >
                Reset password…
              </Button>
              <Button
                variant="subtle"
                color="red"
                leftSection={<Trash2 size={15} />}
                onClick={() => setAsked('remove')}
              >
                Remove the login
              </Button>
            </>
          )
        }
      >
        {read.error && <ReadFault error={read.error} retry={read.refetch} />}
        {!person && !read.error && <Skeleton h={320} />}
        {person && <About person={person} own={own} />}
      </SidePanel>
      <ConfirmDialog
        opened={asked === 'reset'}
        onClose={() => setAsked(null)}
        title="Reset their password?"
        text="You get a link that works once, within a day. Using it sets a new password and turns off the second factor; until then nothing changes."
        confirmLabel="Create the link"
        danger={false}
        run={() => reset.mutateAsync(undefined)}
      />
      <ConfirmDialog
        opened={asked === 'remove'}
        onClose={() => setAsked(null)}
        title="Remove this login?"
        text="They lose access to all accounts. Their actions stay in the audit log, and the keys that they created keep working."
        confirmLabel="Remove the login"
        {...(person && { confirmText: person.email })}
        run={() => remove.mutateAsync(undefined)}
      />
      <LinkDialog
        made={made}
        onClose={() => setMade(null)}
        title="Password reset link"
        note="Whoever has the link can use it: give it only to this person. It works once, within a day, and is not shown again."
      />
    </>
  )
}

function About({ person, own }: { person: Person; own: boolean }) {
  const { email, totp, lastSeenAt, createdAt, id, memberships } = person
  return (
    <Stack gap="lg">
      <Facts
        facts={[
          ['E-mail', <bdi key="e">{email}</bdi>],
          ['Second factor', totp ? 'On' : 'Off'],
          ['Last seen', <MaybeTime key="l" at={lastSeenAt} none="Never" />],
          ['Created', <Time key="s" at={createdAt} />],
          ['Id', <CopyId key="i" id={id} />],
        ]}
      />
      <Operator person={person} own={own} />
      <section>
        <Title order={3} size="h4" mb="xs">
          Accounts
        </Title>
        {memberships.length === 0 && <Text c="dimmed">No account. An owner can invite them to one.</Text>}
        <Facts
          facts={memberships.map(
            ({ accountId, accountName, role, permissions }) =>
              [
                `${role === 'owner' ? 'Owner' : 'Member'} of`,
                <span key={accountId}>
                  <AccountLink id={accountId} name={accountName} />
                  {role === 'member' && `: ${permissionsLabel({ role, permissions })}`}
                </span>,
              ] as const,
          )}
        />
      </section>
    </Stack>
  )
}

function Operator({ person: { id, operator, name }, own }: { person: Person; own: boolean }) {
  const change = useAction(
    (api, wanted: boolean) =>
      api.patch('/api/admin/members/{id}', { path: { id }, body: { operator: wanted } }),
    {
      changes: [PEOPLE],
      onDone: ({ data }) =>
        notifyDone(data.operator ? `${name} is an operator now.` : `${name} is no longer an operator.`),
    },
  )
  return (
    <Switch
      label="Operator of this server"
      description={
        own ? 'Your own login: only another operator can change this' : 'Sees and changes everything here'
      }
      checked={operator}
      disabled={own || change.isPending}
      onChange={event => change.mutate(event.currentTarget.checked, { onError: notifyFault })}
    />
  )
}
