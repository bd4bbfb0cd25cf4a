import { Button } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyNote } from './empty-note.tsx'

/** Shown if a list has no rows: a button to clear its filters, or what the list is for. */
export function EmptyList({
  icon,
  clear,
  noMatch = {},
  ...note
}: {
  icon: LucideIcon
  /** From `useFilters`; null if no filter is set. */
  clear: (() => void) | null
  /** The text if the filters match nothing. */
  noMatch?: { title?: string; text?: string }
  title: string
  text?: ReactNode
  action?: ReactNode
}) {
  if (!clear) return <EmptyNote icon={icon} {...note} />
  return (
    <EmptyNote
      icon={icon}
      title={noMatch.title ?? 'Nothing matches these filters'}
      text={noMatch.text}
      action={
        <Button variant="default" onClick={clear}>
          Clear filters
        </Button>
      }
    />
  )
}
