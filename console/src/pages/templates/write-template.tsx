import { Anchor, Button, Grid } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { OfficialSender } from '../../../../sdk/index.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { type Draft, fieldOf } from './draft.ts'
import { DraftPreview } from './draft-preview.tsx'
import classes from './editor.module.css'
import { EditorFields } from './editor-fields.tsx'
import type { UploadPath } from './upload.tsx'

/** The form of a template, of an account or the platform, with a preview. */
export function WriteTemplate<R>({
  title,
  back,
  initial,
  senders,
  uploadTo,
  send,
  onDone,
  children,
}: {
  title: string
  /** Link to the list. */
  back: { href: string; label: string }
  initial: Draft
  /** Null if there are no senders to choose from. */
  senders: readonly OfficialSender[] | null
  uploadTo: UploadPath
  send: (draft: Draft) => Promise<R>
  onDone: (made: R, draft: Draft) => void
  /** Fields after the others. */
  children?: ReactNode
}) {
  const form = useApiForm<Draft, R>({ initial, send, fieldOf, onDone })
  const draft = form.fields.values
  const sender = senders?.find(({ id, isDefault }) =>
    draft.officialSenderId === '' ? isDefault : id === draft.officialSenderId,
  )
  return (
    <Page
      title={title}
      lead={
        <Anchor component={Link} href={back.href} size="sm">
          {back.label}
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
                <Button component={Link} href={back.href} variant="default">
                  Cancel
                </Button>
              }
            >
              <EditorFields form={form} senders={senders} uploadTo={uploadTo} />
              {children}
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
