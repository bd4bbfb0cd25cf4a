import { Button } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyNote } from './empty-note.tsx'

/** In the place of the rows of a list with filters: the way out of these, or what will stand here. */
export function EmptyList({
  icon,
  clear,
  unfit = {},
  ...note
}: {
  icon: LucideIcon
  /** As `useFilters` gives it: null where nothing is kept away. */
  clear: (() => void) | null
  /** What is told where filters keep all away: what they compare. */
  unfit?: { title?: string; text?: string }
  title: string
  text?: ReactNode
  action?: ReactNode
}) {
  if (!clear) return <EmptyNote icon={icon} {...note} />
  return (
    <EmptyNote
      icon={icon}
      title={unfit.title ?? 'Nothing fits these filters'}
      text={unfit.text}
      action={
        <Button variant="default" onClick={clear}>
          Clear filters
        </Button>
      }
    />
  )
}
