import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { Braces } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import type { ApiForm } from '../../parts/api-form.tsx'
import { type Draft, placeholderCount } from './draft.ts'
import { type Piece, piecesOf } from './placeholders.ts'
import classes from './template-text-field.module.css'

/** The text with highlighted placeholders, and a button that inserts the next one. */
export function TemplateTextField({
  fields,
  label,
  rows,
  foot,
}: {
  fields: ApiForm<Draft>['fields']
  label: string
  rows: number
  /** Shown beside the button, such as the length. */
  foot?: ReactNode
}) {
  const field = useRef<HTMLTextAreaElement>(null)
  const { words } = fields.values

  function insertPlaceholder(): void {
    const place = `{{${placeholderCount(fields.values) + 1}}}`
    const { selectionStart: from = words.length, selectionEnd: to = words.length } = field.current ?? {}
    fields.setFieldValue('words', words.slice(0, from) + place + words.slice(to))
    field.current?.focus()
  }

  return (
    <Stack gap={6}>
      <div className={classes.field}>
        <Textarea
          ref={field}
          label={label}
          autosize
          minRows={rows}
          dir="auto"
          classNames={{ input: classes.input!, wrapper: classes.wrapper! }}
          leftSection={
            <span className={classes.marks} aria-hidden dir="auto">
              {piecesOf(words).map((piece, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name
                <Mark key={at} piece={piece} />
              ))}
            </span>
          }
          leftSectionProps={{ className: classes.section! }}
          {...fields.getInputProps('words')}
        />
      </div>
      <Group justify="space-between" gap="xs">
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<Braces size={13} />}
          onClick={insertPlaceholder}
        >
          Add a variable
        </Button>
        <Text size="xs" c="dimmed" component="div" aria-live="polite">
          {foot}
        </Text>
      </Group>
    </Stack>
  )
}

function Mark({ piece }: { piece: Piece }) {
  return typeof piece === 'number' ? <mark>{`{{${piece}}}`}</mark> : piece
}
