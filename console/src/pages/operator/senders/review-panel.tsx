import { Alert, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { Check, CircleAlert } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { AdminSender } from '../../../../../sdk/index.ts'
import { useAction, useRead } from '../../../api/use-read.ts'
import { countryName } from '../../../parts/country-name.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Facts, SidePanel } from '../../../parts/side-panel.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { formatTime, Time } from '../../../parts/time.tsx'
import { notifyDone, notifyFault } from '../../../parts/toast.tsx'
import { AccountLink } from '../account-names.tsx'
import { kindOf, rulesOf } from './name-rules.ts'
import { OtherSenders } from './other-senders.tsx'
import { POLL_EVERY_MS, SENDERS } from './paths.ts'
import { RejectSender } from './reject-sender.tsx'

/** The facts about a requested name, and the buttons for the decision. */
export function ReviewPanel({ senderId, onClose }: { senderId: string | null; onClose: () => void }) {
  const read = useRead(
    '/api/admin/sms-senders/{id}',
    { path: { id: senderId ?? '' } },
    { enabled: senderId !== null, everyMs: POLL_EVERY_MS },
  )
  const sender = (senderId !== null && read.data?.data) || null
  const [rejecting, setRejecting] = useState(false)
  // The back button leaves the name under the dialog, which must not ask about the next one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when the name changes
  useEffect(() => setRejecting(false), [senderId])
  const approve = useAction(
    (api, id: string) => api.post('/api/admin/sms-senders/{id}/approve', { path: { id } }),
    {
      changes: [SENDERS],
      onDone: ({ data }) => notifyDone(`${data.name} is approved: the account can use it, and is notified.`),
    },
  )
  return (
    <>
      <SidePanel
        opened={senderId !== null}
        onClose={onClose}
        title={sender ? <bdi>{sender.name}</bdi> : 'Sender name'}
        aside={sender && <StatusBadge status={sender.status} />}
        foot={
          sender?.status === 'pending' && (
            <Group gap="sm">
              <Button
                loading={approve.isPending}
                onClick={() => approve.mutate(sender.id, { onError: notifyFault })}
              >
                Approve the name
              </Button>
              <Button variant="default" onClick={() => setRejecting(true)}>
                Reject…
              </Button>
            </Group>
          )
        }
      >
        {read.error && <ReadFault error={read.error} retry={read.refetch} />}
        {!sender && !read.error && <Skeleton h={320} />}
        {sender && <Evidence sender={sender} />}
      </SidePanel>
      <RejectSender sender={rejecting ? sender : null} onClose={() => setRejecting(false)} />
    </>
  )
}

function Evidence({ sender }: { sender: AdminSender }) {
  return (
    <Stack gap="lg">
      {sender.reason !== null && (
        <Alert color="red" variant="light" icon={<CircleAlert size={16} />} title="Why it was rejected">
          <span className="ph-words">{sender.reason}</span>
        </Alert>
      )}
      <Facts
        facts={[
          ['Kind', kindOf(sender.name)],
          ['Requested', formatTime(sender.createdAt)],
          ['Requested as default', sender.isDefault ? 'Yes' : 'No'],
          ['Notified by webhook', sender.webhookConfigured ? 'Yes' : 'No, only in the console'],
        ]}
      />
      <section>
        <Title order={3} size="h4" mb="xs">
          Checks of the name
        </Title>
        <Rules name={sender.name} />
      </section>
      {sender.accountId === null ? (
        <Text c="dimmed">A platform name, for every account without its own default.</Text>
      ) : (
        <>
          <Account id={sender.accountId} />
          <OtherSenders sender={sender} accountId={sender.accountId} />
        </>
      )}
    </Stack>
  )
}

function Rules({ name }: { name: string }) {
  return (
    <Stack component="ul" gap={6} m={0} p={0} style={{ listStyle: 'none' }}>
      {rulesOf(name).map(({ holds, text, hint }) => (
        <Group component="li" key={text} gap={8} wrap="nowrap" align="flex-start">
          {holds ? (
            <Check size={16} color="var(--ph-good)" role="img" aria-label="Met" />
          ) : (
            <CircleAlert size={16} color="var(--ph-warn)" role="img" aria-label="Not met" />
          )}
          <div>
            <Text size="sm" lh={1.2}>
              {text}
            </Text>
            {!holds && hint !== undefined && (
              <Text size="xs" c="dimmed">
                {hint}
              </Text>
            )}
          </div>
        </Group>
      ))}
    </Stack>
  )
}

function Account({ id }: { id: string }) {
  const read = useRead('/api/admin/accounts/{id}', { path: { id } })
  if (read.error) return <ReadFault error={read.error} retry={read.refetch} />
  const account = read.data?.data
  if (!account) return <Skeleton h={120} />
  const { name, status, homeCountry, plan, phone, createdAt } = account
  return (
    <section>
      <Title order={3} size="h4" mb="xs">
        Requested by
      </Title>
      <Facts
        facts={[
          ['Account', <AccountLink key="a" id={id} name={name} />],
          ['State', <StatusBadge key="s" status={status} />],
          ['Home country', countryName(homeCountry)],
          ['Plan', <bdi key="p">{plan.name}</bdi>],
          [
            'Phone',
            phone.number === null
              ? 'None given'
              : `${phone.number}${phone.verified ? ', verified' : ', not verified'}`,
          ],
          ['Created', <Time key="t" at={createdAt} />],
        ]}
      />
    </section>
  )
}
