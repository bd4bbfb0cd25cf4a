import { Skeleton, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import type { Channel, InboundMessageView, Message } from '../../../../sdk/index.ts'
import { useMessageChanges } from '../../api/use-message-changes.ts'
import { useRead, useReadAgain } from '../../api/use-read.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { ContactCard } from './contact-card.tsx'
import classes from './conversation.module.css'
import { LocationCard } from './location-card.tsx'
import { MediaFile } from './media-file.tsx'

const MAX_MESSAGES = 30

type Line = { at: string } & ({ came: InboundMessageView } | { went: Message })

/** The messages of both sides, the latest last; read again when `news` or one of our messages changes. */
export function Conversation({ message, news }: { message: InboundMessageView; news: number }) {
  const key = message.conversationContext?.conversationKey ?? null
  const to = message.conversationContext?.chatId ?? message.from
  const came = useRead('/api/v2/inbound', {
    query: {
      limit: MAX_MESSAGES,
      ...(key === null ? { from: message.from, channel: message.channel } : { conversationKey: key }),
    },
  })
  const went = useRead('/api/v2/messages', { query: { limit: MAX_MESSAGES, to } })
  const readCame = useReadAgain(came)
  const readWent = useReadAgain(went)
  useMessageChanges({ to }, { onChanged: readWent, read: readWent })
  const read = useRef(news)
  useEffect(() => {
    if (read.current === news) return
    read.current = news
    readCame()
  }, [news, readCame])
  if (!came.data || !went.data) {
    const error = came.error ?? went.error
    if (!error) return <Skeleton h={240} />
    return <ReadFault error={error} retry={() => Promise.all([came.refetch(), went.refetch()])} />
  }
  const lines = inOrder(
    came.data.data,
    went.data.data.filter(each => belongsTo(each, message)),
  )
  return (
    <ol className={classes.lines} aria-label="The conversation">
      {lines.map(line =>
        'came' in line ? (
          <InboundBubble key={line.came.id} message={line.came} opened={line.came.id === message.id} />
        ) : (
          <OutboundBubble key={line.went.messageId} message={line.went} />
        ),
      )}
    </ol>
  )
}

function InboundBubble({ message, opened }: { message: InboundMessageView; opened: boolean }) {
  const { text, media, location, contacts, button, buttonTitle, receivedAt, id } = message
  return (
    <li className={classes.came} data-opened={opened || undefined}>
      {buttonTitle !== null && <div className={classes.note}>Pressed a button</div>}
      {text !== null && text !== '' && <div className="ph-words">{text}</div>}
      {text === null && button !== null && <div className="ph-words">{button}</div>}
      {media.map((file, at) => (
        <MediaFile key={file.path ?? `${id} ${at}`} file={file} />
      ))}
      {location && <LocationCard place={location} />}
      {unique(contacts).map(([key, card]) => (
        <ContactCard key={key} card={card} />
      ))}
      <div className={classes.note}>
        <Time at={receivedAt} />
      </div>
    </li>
  )
}

function unique<T>(items: readonly T[]): [string, T][] {
  return [...new Map(items.map(item => [JSON.stringify(item), item]))]
}

function OutboundBubble({ message }: { message: Message }) {
  const { messageId, text, attachment, templateId, messageType, status, createdAt } = message
  return (
    <li className={classes.went}>
      {text !== null && text !== '' ? (
        <div className="ph-words">{text}</div>
      ) : (
        <Text c="dimmed" size="sm">
          {messageType === 'otp'
            ? 'A code'
            : (attachment?.fileName ?? (templateId === null ? '' : 'A template'))}
        </Text>
      )}
      <div className={classes.note}>
        <Link href={`/messages/${messageId}`}>
          <StatusBadge status={status} />
        </Link>{' '}
        <Time at={createdAt} />
      </div>
    </li>
  )
}

function inOrder(came: readonly InboundMessageView[], went: readonly Message[]): Line[] {
  const lines: Line[] = [
    ...came.map(each => ({ at: each.receivedAt, came: each })),
    ...went.map(each => ({ at: each.createdAt, went: each })),
  ]
  return lines.toSorted((left, right) => left.at.localeCompare(right.at))
}

const SMS = new Set<Channel>(['local_sms', 'int_sms'])

/** Whether a sent message belongs to the conversation; SMS has none, only the two numbers. */
function belongsTo(went: Message, { channel, conversationContext }: InboundMessageView): boolean {
  if (conversationContext === null) return SMS.has(channel) ? SMS.has(went.channel) : went.channel === channel
  if (went.conversationContext === null) return went.channel === channel
  return went.conversationContext.accountId === conversationContext.accountId
}
