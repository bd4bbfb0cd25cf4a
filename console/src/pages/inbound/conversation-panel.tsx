import { Anchor, Skeleton, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { InboundMessageView } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'
import { channelName } from '../../parts/channel-name.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Facts, SidePanel } from '../../parts/side-panel.tsx'
import { useIdempotentSend } from '../../parts/use-idempotent-send.ts'
import { useSession } from '../../session/context.tsx'
import { Conversation } from './conversation.tsx'
import { Reply } from './reply.tsx'

type Props = {
  inboundId: string | null
  /** Changes whenever a message has arrived. */
  news: number
  onClose: () => void
}

/** The conversation of a message, and a way to answer it. */
export function ConversationPanel({ inboundId, news, onClose }: Props) {
  const { can } = useSession()
  // Outside of the panel: whoever closes it after a lost response, and writes the reply again, means the same one.
  const once = useIdempotentSend()
  const read = useRead(
    '/api/v2/inbound/{inboundId}',
    { path: { inboundId: inboundId ?? '' } },
    { enabled: inboundId !== null },
  )
  const message = inboundId === null ? undefined : read.data?.data
  return (
    <SidePanel
      opened={inboundId !== null}
      onClose={onClose}
      title={message ? <bdi>{message.contact?.name ?? message.from}</bdi> : 'Message'}
      aside={
        message && (
          <Text size="sm" c="dimmed">
            {channelName(message.channel)}
          </Text>
        )
      }
      foot={message && can('messages:create') && <Reply key={message.id} message={message} once={once} />}
    >
      {read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!message && !read.error && <Skeleton h={320} />}
      {message && (
        <Stack gap="lg">
          <Conversation message={message} news={news} />
          <MessageFacts message={message} />
        </Stack>
      )}
    </SidePanel>
  )
}

function MessageFacts({ message }: { message: InboundMessageView }) {
  const { from, to, contact, provider, providerMessageId, id, conversationContext, keyword } = message
  return (
    <Facts
      facts={[
        [
          'From',
          <bdi key="f" className="ph-num">
            {from}
          </bdi>,
        ],
        contact?.name ? ['Profile name', <bdi key="c">{contact.name}</bdi>] : null,
        [
          'To',
          <bdi key="t" className="ph-num">
            {to}
          </bdi>,
        ],
        keyword === null
          ? null
          : [
              'Keyword',
              keyword === 'stop' ? 'STOP: they get no marketing' : 'START: they get marketing again',
            ],
        ['Provider', provider],
        [
          'Provider’s id',
          <span key="p" className="ph-mono">
            {providerMessageId}
          </span>,
        ],
        conversationContext?.conversationKey
          ? [
              'Conversation',
              <Anchor
                key="k"
                component={Link}
                href={`/inbound?conversationKey=${encodeURIComponent(conversationContext.conversationKey)}`}
                size="sm"
              >
                Show its messages
              </Anchor>,
            ]
          : null,
        ['Id', <CopyId key="i" id={id} />],
      ]}
    />
  )
}
