import { Button } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import { EmptyNote } from './empty-note.tsx'

/** In the place of rows that filters keep away: what they compare, and the way out of them. */
export function NothingFits({
  icon,
  title = 'Nothing fits these filters',
  text,
  onClear,
}: {
  icon: LucideIcon
  title?: string
  text?: string
  onClear: () => void
}) {
  return (
    <EmptyNote
      icon={icon}
      title={title}
      text={text}
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    />
  )
}
