import { Button } from '@mantine/core'
import { Link, Redirect, useLocation } from 'wouter'
import { PAGES } from '../pages.ts'
import { EmptyNote } from '../parts/empty-note.tsx'
import { useSession } from '../session/context.tsx'

/** For a path that is nothing here, or nothing for this role. */
export function NoPage() {
  const { may } = useSession()
  const [path] = useLocation()
  const first = PAGES.find(page => page.need !== 'anyone' && may(page.need))
  // An operator without an account has no overview.
  if (path === '/' && first) return <Redirect to={first.path} replace />
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
