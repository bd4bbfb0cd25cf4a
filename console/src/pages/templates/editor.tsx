import { Anchor, Button, Grid, Skeleton } from '@mantine/core'
import { Link, useLocation, useSearch } from 'wouter'
import { useApi } from '../../api/context.tsx'
import { useForget, useRead } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { tellDone } from '../../parts/toast.tsx'
import { type Draft, draftFrom, fieldOf, NEW_DRAFT, toBody } from './draft.ts'
import { DraftPreview } from './draft-preview.tsx'
import classes from './editor.module.css'
import { EditorFields } from './editor-fields.tsx'
import { TEMPLATES } from './use-templates.ts'

/** Written at the left, seen at the right; `?from=` begins with another one's words. */
export default function Editor() {
  const from = new URLSearchParams(useSearch()).get('from')
  const like = useRead('/api/v2/templates/{id}', { path: { id: from ?? '' } }, { enabled: from !== null })
  if (from === null) return <EditorPage initial={NEW_DRAFT} />
  return (
    <>
      {like.error && (
        <Page title="New template">
          <ReadFault error={like.error} retry={like.refetch} />
        </Page>
      )}
      {like.isPending && (
        <Page title="New template">
          <Skeleton h={420} />
        </Page>
      )}
      {like.data && <EditorPage key={from} initial={{ ...draftFrom(like.data.data), name: '' }} />}
    </>
  )
}

function EditorPage({ initial }: { initial: Draft }) {
  const [, go] = useLocation()
  const api = useApi()
  const forget = useForget()
  const senders = useRead('/api/v2/official-senders')
  const form = useApiForm<Draft, { data: { template: { id: string; status: string } } }>({
    initial,
    send: draft => api.post('/api/v2/templates', { body: toBody(draft) }),
    fieldOf,
    onDone({ data: { template } }, { name }) {
      forget([TEMPLATES])
      tellDone(
        template.status === 'pending' ? `${name} waits for its provider’s approval.` : `${name} can be sent.`,
      )
      go(`/templates/${template.id}`)
    },
  })
  const draft = form.fields.values
  const sender = senders.data?.data.find(({ id, isDefault }) =>
    draft.officialSenderId === '' ? isDefault : id === draft.officialSenderId,
  )

  return (
    <Page
      title="New template"
      lead={
        <Anchor component={Link} href="/templates" size="sm">
          All templates
        </Anchor>
      }
    >
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Card>
            <ApiForm
              form={form}
              submitLabel={draft.kind === 'official' ? 'Submit for approval' : 'Save the template'}
              extra={
                <Button component={Link} href="/templates" variant="default">
                  Leave it
                </Button>
              }
            >
              <EditorFields form={form} senders={senders.data?.data ?? []} />
            </ApiForm>
          </Card>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <div className={classes.preview}>
            <DraftPreview draft={draft} from={draft.kind === 'official' ? (sender?.displayName ?? '') : ''} />
          </div>
        </Grid.Col>
      </Grid>
    </Page>
  )
}
