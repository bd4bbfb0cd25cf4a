import { Button } from '@mantine/core'
import { Link, Redirect, useLocation } from 'wouter'
import { EmptyNote } from '../parts/empty-note.tsx'
import { usePages } from './use-pages.ts'

/** For a path that is nothing here, or nothing for this role. */
export function NoPage() {
  const [path] = useLocation()
  const first = usePages().find(page => page.need !== 'anyone')
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
