import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { PAGES } from '../pages.ts'
import { EmptyNote } from '../parts/empty-note.tsx'
import { useSession } from '../session/context.tsx'

/** For a path that is nothing here, or nothing for this role. */
export function NoPage() {
  const { may } = useSession()
  const first = PAGES.find(page => may(page.need))
  return (
    <EmptyNote
      title="There is no such page for you here"
      text="Its address may be mistyped, or it is for owners or the operator alone."
      action={
        first && (
          <Button component={Link} href={first.path}>
            To {first.title.toLowerCase()}
          </Button>
        )
      }
    />
  )
}
