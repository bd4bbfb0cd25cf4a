import { Button, Grid, Stack } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { Snippets } from '../../parts/code.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { sendSnippets } from '../../parts/snippets.ts'
import { notifyDone } from '../../parts/toast.tsx'
import { useIdempotentSend } from '../../parts/use-idempotent-send.ts'
import { useSession } from '../../session/context.tsx'
import { MessagePanel } from '../messages/message-panel.tsx'
import { type Draft, draftFrom, EMPTY, fieldOf, type PrefilledText, toBody } from './draft.ts'
import { Estimate } from './estimate.tsx'
import { SendFields } from './send-fields.tsx'

const SETTLE_MS = 350

/** The form for a send, with an estimate while it is filled in. */
export default function Send() {
  const api = useApi()
  const invalidate = useInvalidate()
  const { mode, can } = useSession()
  const [, go] = useLocation()
  const search = useSearch()
  const written = useHistoryState<PrefilledText | null>()
  const [sent, setSent] = useState<string | null>(null)
  const once = useIdempotentSend()

  const form = useApiForm<Draft, Awaited<ReturnType<typeof send>>>({
    initial: draftFrom(search, written),
    send,
    fieldOf,
    onDone(result) {
      invalidate(['/api/v2/messages', '/api/v2/sandbox', '/api/v2/wallet', '/api/v2/stats'])
      if ('tracking' in result) {
        if (can('messages:read')) setSent(result.tracking.messageId)
        notifyDone(mode === 'test' ? 'The message is in the sandbox.' : 'The message is on its way.')
      }
    },
  })

  function send(draft: Draft) {
    const body = toBody(draft)
    return once(body, idempotencyKey => api.post('/api/v2/messages/send', { body, idempotencyKey }))
  }

  // “Send again” in the panel fills in the form behind it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another page, or the panel, links here
  useEffect(() => setSent(null), [search, written])

  const [settled] = useDebouncedValue(form.fields.values, SETTLE_MS)

  function clear(): void {
    form.fields.setValues(EMPTY)
    form.fields.clearErrors()
    form.setFault(null)
    go('/send', { replace: true })
  }

  return (
    <Page
      title="Send"
      lead="Write a message, and see its route and price before you send it."
      actions={
        <Button variant="default" onClick={clear}>
          Start over
        </Button>
      }
    >
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Card>
            <ApiForm form={form} submitLabel={mode === 'test' ? 'Send to the sandbox' : 'Send'}>
              <SendFields form={form} />
            </ApiForm>
          </Card>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="lg">
            <Estimate draft={settled} />
            <Card title="The same request with the API">
              <Snippets codes={sendSnippets(toBody(settled))} />
            </Card>
          </Stack>
        </Grid.Col>
      </Grid>
      <MessagePanel messageId={sent} onClose={() => setSent(null)} />
    </Page>
  )
}
