import { Modal, MultiSelect, SimpleGrid, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { EventType, WebhookReplayed, WebhookView } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { nowMs } from '../../api/server-clock.ts'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { isoOfLocal, localTime } from '../../parts/local-time.ts'
import { notifyDone } from '../../parts/toast.tsx'
import { EVENT_TYPES } from './event-types.ts'
import { WEBHOOKS } from './path.ts'

type Props = { webhook: WebhookView; onClose: () => void }

export function ReplayRange({ opened, ...props }: Props & { opened: boolean }) {
  return (
    <Modal opened={opened} onClose={props.onClose} title="Replay a period" size="lg">
      <Fields {...props} />
    </Modal>
  )
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Replays the events of a period; the API does it in pieces, which are requested until the end. */
function Fields({ webhook, onClose }: Props) {
  const api = useApi()
  const invalidate = useInvalidate()
  // Of when the dialog was opened: untouched fields follow their initial values, and the period would move on.
  const [fromMs] = useState(() => nowMs() - HOUR_MS)
  const [toMs] = useState(() => nowMs() + MINUTE_MS)
  const form = useApiForm({
    initial: { from: localTime(fromMs), to: localTime(toMs), events: [] as EventType[] },
    async send({ from, to, events }) {
      const range = {
        from: isoOfLocal(from, fromMs),
        to: isoOfLocal(to, toMs),
        ...(events.length > 0 && { events }),
      }
      let queued = 0
      let cursor: string | null = null
      do {
        const answer: WebhookReplayed = await api.post('/api/v2/webhooks/{id}/replay', {
          path: { id: webhook.id },
          body: { ...range, ...(cursor !== null && { cursor }) },
        })
        queued += answer.data.queued
        cursor = answer.nextCursor
      } while (cursor !== null)
      return queued
    },
    onDone(queued) {
      invalidate([WEBHOOKS])
      notifyDone(
        queued === 1
          ? 'One event is on its way again.'
          : `${queued.toLocaleString()} events are on their way again.`,
      )
    },
    onClose,
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Replay">
      <Text>
        All events of this period are sent again, each with its original{' '}
        <span className="ph-mono">webhook-id</span>: a receiver that ignores repeated ids processes only what
        it missed.
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput label="From" type="datetime-local" step={1} {...getInputProps('from')} />
        <TextInput label="Until" type="datetime-local" step={1} {...getInputProps('to')} />
      </SimpleGrid>
      <MultiSelect
        label="Events"
        placeholder={form.fields.values.events.length === 0 ? 'All events of the endpoint' : ''}
        searchable
        clearable
        data={[...EVENT_TYPES]}
        {...getInputProps('events')}
      />
    </ApiForm>
  )
}
