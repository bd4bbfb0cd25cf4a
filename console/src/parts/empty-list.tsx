import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyNote } from './empty-note.tsx'
import { NothingFits } from './nothing-fits.tsx'

/** In the place of the rows of a list with filters: the way out of these, or what will stand here. */
export function EmptyList({
  icon,
  clear,
  unfit,
  ...note
}: {
  icon: LucideIcon
  /** As `useFilters` gives it: null where nothing is kept away. */
  clear: (() => void) | null
  /** What is told where filters keep all away. */
  unfit?: { title?: string; text?: string }
  title: string
  text?: ReactNode
  action?: ReactNode
}) {
  return clear ? <NothingFits icon={icon} {...unfit} onClear={clear} /> : <EmptyNote icon={icon} {...note} />
}
