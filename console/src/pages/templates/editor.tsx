import { Skeleton } from '@mantine/core'
import { useSearch } from 'wouter'
import { useApi } from '../../api/context.tsx'
import { useInvalidate, useRead } from '../../api/use-read.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Page } from '../../parts/page.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useGo } from '../../parts/use-go.ts'
import { type Draft, draftFrom, NEW_DRAFT, toBody } from './draft.ts'
import { TEMPLATES } from './use-templates.ts'
import { WriteTemplate } from './write-template.tsx'

/** The editor with a preview; `?from=` copies another template. */
export default function Editor() {
  const from = new URLSearchParams(useSearch()).get('from')
  const original = useRead(
    '/api/v2/templates/{id}',
    { path: { id: from ?? '' } },
    { enabled: from !== null, inBothModes: true },
  )
  if (from === null) return <EditorPage initial={NEW_DRAFT} />
  return (
    <>
      {original.error && (
        <Page title="New template">
          <ReadFault error={original.error} retry={original.refetch} />
        </Page>
      )}
      {original.isPending && (
        <Page title="New template">
          <Skeleton h={420} />
        </Page>
      )}
      {original.data && <EditorPage key={from} initial={{ ...draftFrom(original.data.data), name: '' }} />}
    </>
  )
}

function EditorPage({ initial }: { initial: Draft }) {
  const go = useGo()
  const api = useApi()
  const invalidate = useInvalidate()
  const senders = useRead('/api/v2/official-senders')
  return (
    <WriteTemplate
      title="New template"
      back={{ href: '/templates', label: 'All templates' }}
      initial={initial}
      senders={senders.data?.data ?? []}
      uploadTo="/api/v2/templates/media"
      send={draft => api.post('/api/v2/templates', { body: toBody(draft) })}
      onDone={({ data: { template } }, { name }) => {
        invalidate([TEMPLATES])
        notifyDone(
          template.status === 'pending'
            ? `${name} waits for its provider’s approval.`
            : `${name} can be sent.`,
        )
        go(`/templates/${template.id}`)
      }}
    />
  )
}
