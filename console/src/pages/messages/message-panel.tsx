import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { RotateCw, X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { MessageWithTimeline } from '../../../../sdk/index.ts'
import { useAction, useRead } from '../../api/use-read.ts'
import { channelName } from '../../parts/channel-name.ts'
import { Snippet } from '../../parts/code.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { countryName } from '../../parts/country-name.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Money } from '../../parts/money.tsx'
import { Facts, SidePanel } from '../../parts/side-panel.tsx'
import { humanize, StatusBadge } from '../../parts/status-badge.tsx'
import { formatTime } from '../../parts/time.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { typeName } from '../../parts/type-name.ts'
import { useSession } from '../../session/context.tsx'
import { resendLink } from './resend.ts'
import { Timeline } from './timeline.tsx'

const POLL_EVERY_MS = 2_000
const ENDED = new Set(['delivered', 'read', 'undelivered', 'failed', 'cancelled', 'expired'])

/** One message: what became of it, step by step, what it cost, and what can be done. */
export function MessagePanel({ messageId, onClose }: { messageId: string | null; onClose: () => void }) {
  const read = useRead(
    '/api/v2/messages/{messageId}',
    { path: { messageId: messageId ?? '' } },
    { enabled: messageId !== null, everyMs: POLL_EVERY_MS, keepsDigits: true },
  )
  const message = messageId === null ? undefined : read.data?.data
  return (
    <SidePanel
      opened={messageId !== null}
      onClose={onClose}
      title={message ? <bdi>{message.to}</bdi> : 'Message'}
      aside={message && <StatusBadge status={message.status} />}
      foot={message && <Actions key={message.messageId} message={message} />}
    >
      {read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!message && !read.error && <Skeleton h={320} />}
      {message && <Details message={message} />}
    </SidePanel>
  )
}

function Details({ message }: { message: MessageWithTimeline }) {
  const { billing } = message
  return (
    <Stack gap="lg">
      {message.errorMessage !== null && (
        <Text c="var(--ph-bad)" className="ph-words">
          {message.errorCode === null ? '' : `${message.errorCode}: `}
          {message.errorMessage}
        </Text>
      )}
      {message.subject !== null && (
        <Text fw={600} className="ph-words">
          {message.subject}
        </Text>
      )}
      {message.text !== null && message.text !== '' && (
        <div className="ph-card ph-words" style={{ padding: 12, maxHeight: 260, overflow: 'auto' }}>
          {message.text}
        </div>
      )}
      <Timeline entries={message.timeline} />
      <Facts
        facts={[
          ['Channel', channelName(message.channel)],
          ['Mode', humanize(message.mode)],
          ['Type', typeName(message.messageType)],
          [
            'From',
            message.sender === null
              ? '–'
              : `${message.sender} (${humanize(message.senderSource).toLowerCase()})`,
          ],
          ['Provider', message.provider],
          message.providerMessageId === null
            ? null
            : [
                'Provider’s id',
                <span key="p" className="ph-mono">
                  {message.providerMessageId}
                </span>,
              ],
          [
            'Cost',
            <span key="c">
              <Money amount={billing.cost} currency={billing.currency} />{' '}
              <Text span c="dimmed" size="sm">
                {billing.state === 'none' ? 'not charged' : `${billing.state}, from the ${billing.source}`}
                {billing.parts === null ? '' : `, ${billing.parts} ${billing.parts === 1 ? 'part' : 'parts'}`}
              </Text>
            </span>,
          ],
          ['Country', message.country === null ? '–' : countryName(message.country)],
          ['Created', formatTime(message.createdAt)],
          message.scheduledAt === null ? null : ['Scheduled for', formatTime(message.scheduledAt)],
          message.templateId === null
            ? null
            : [
                'Template',
                <span key="tpl" className="ph-mono">
                  {message.templateId}
                </span>,
              ],
          message.bulkJobId === null
            ? null
            : [
                'Bulk job',
                <Link key="job" href={`/bulk/${message.bulkJobId}`} className="ph-mono">
                  {message.bulkJobId}
                </Link>,
              ],
          [
            'Id',
            <span key="id" className="ph-mono">
              {message.messageId} <CopyButton text={message.messageId} what="the message id" small />
            </span>,
          ],
          [
            'Request id',
            <span key="rq" className="ph-mono">
              {message.requestId} <CopyButton text={message.requestId} what="the request id" small />
            </span>,
          ],
        ]}
      />
      {message.metadata !== null && message.metadata !== undefined && (
        <Snippet code={JSON.stringify(message.metadata, null, 2)} label="Metadata" />
      )}
    </Stack>
  )
}

function Actions({ message }: { message: MessageWithTimeline }) {
  const { can } = useSession()
  const mayWrite = can('messages:create')
  const [asked, setAsked] = useState(false)
  const cancel = useAction(
    (api, messageId: string) => api.post('/api/v2/messages/{messageId}/cancel', { path: { messageId } }),
    {
      changes: ['/api/v2/messages'],
      onDone: ({ data }) =>
        notifyDone(
          data.billing.state === 'released'
            ? 'The message is cancelled, and the held amount is released.'
            : 'The message is cancelled.',
        ),
    },
  )
  const isWaiting = message.status === 'scheduled' || message.status === 'queued'
  const again = mayWrite ? resendLink(message) : null
  return (
    <>
      {again !== null && (
        <Button component={Link} {...again} variant="default" leftSection={<RotateCw size={15} />}>
          Send again
        </Button>
      )}
      {isWaiting && mayWrite && (
        <Button variant="default" leftSection={<X size={15} />} onClick={() => setAsked(true)}>
          Cancel it
        </Button>
      )}
      {!ENDED.has(message.status) && !isWaiting && (
        <Text size="sm" c="dimmed">
          {message.status === 'unknown'
            ? 'It is not known whether the provider accepted it; sending again may deliver it twice.'
            : 'Waiting for the delivery receipt.'}
        </Text>
      )}
      <ConfirmDialog
        opened={asked}
        onClose={() => setAsked(false)}
        title="Cancel this message?"
        text={
          message.billing.state === 'held'
            ? 'It will not be sent, and the held amount is released.'
            : 'It will not be sent.'
        }
        confirmLabel="Cancel the message"
        run={() => cancel.mutateAsync(message.messageId)}
      />
    </>
  )
}
