import { Anchor, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { SendHorizontal } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { Link } from 'wouter'
import type { InboundMessageView, SendBody } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { FaultNote, useApiForm } from '../../parts/api-form.tsx'
import { writeLink } from '../../parts/conversation.ts'
import { notifyDone } from '../../parts/toast.tsx'
import type { IdempotentSend } from '../../parts/use-idempotent-send.ts'
import { useSession } from '../../session/context.tsx'

/** Answers in the conversation that the message came in. */
export function Reply({ message, once }: { message: InboundMessageView; once: IdempotentSend }) {
  const way = replyRouteOf(message)
  if (way === null) {
    return (
      <Text size="sm" c="dimmed">
        The sender has no address to reply to.
      </Text>
    )
  }
  return <ReplyForm way={way} once={once} />
}

type ReplyRoute = { body: Pick<SendBody, 'to' | 'conversationContext'>; link: string }

function ReplyForm({ way, once }: { way: ReplyRoute; once: IdempotentSend }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { mode } = useSession()
  const form = useApiForm({
    initial: { text: '' },
    send({ text }) {
      const body = { ...way.body, text, messageType: 'free_text' as const }
      return once(body, idempotencyKey => api.post('/api/v2/messages/send', { body, idempotencyKey }))
    },
    fieldOf: path => (path === 'content.text' || path === 'content' ? 'text' : path),
    onDone(_, { text }) {
      // Text that was added meanwhile is the next reply.
      form.fields.setFieldValue('text', now => (now.startsWith(text) ? now.slice(text.length) : now))
      invalidate(['/api/v2/messages', '/api/v2/sandbox', '/api/v2/wallet'])
      notifyDone(mode === 'test' ? 'The reply is in the sandbox.' : 'The reply is on its way.')
    },
  })

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) form.submit()
  }

  return (
    <form onSubmit={form.submit} style={{ flex: 1 }}>
      <Stack gap="xs">
        <Textarea
          aria-label="Your reply"
          placeholder={mode === 'test' ? 'Reply, only in the sandbox' : 'Reply'}
          autosize
          minRows={2}
          maxRows={8}
          {...form.fields.getInputProps('text')}
          onKeyDown={onKeyDown}
        />
        <FaultNote fault={form.fault} />
        <Group justify="space-between">
          <Anchor component={Link} href={way.link} size="sm">
            Reply with a template
          </Anchor>
          <Button type="submit" leftSection={<SendHorizontal size={15} />} loading={form.busy}>
            {' '}
            Reply{' '}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Null where nothing can be sent back. */
function replyRouteOf({ channel, from, conversationContext }: InboundMessageView): ReplyRoute | null {
  if (conversationContext !== null) {
    const { moduleType, accountId, chatId } = conversationContext
    return {
      body: { to: chatId, conversationContext: { moduleType, accountId, chatId } },
      link: writeLink(conversationContext),
    }
  }
  if (channel !== 'local_sms' && channel !== 'int_sms') return null
  return { body: { to: from }, link: `/send?${new URLSearchParams({ to: from })}` }
}
