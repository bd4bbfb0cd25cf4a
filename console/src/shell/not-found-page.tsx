import { Button } from '@mantine/core'
import { Link, Redirect, useLocation } from 'wouter'
import { EmptyNote } from '../parts/empty-note.tsx'
import { useSession } from '../session/context.tsx'
import { usePages } from './use-pages.ts'

/** Shown for a path that does not exist, or not for this role. */
export function NotFoundPage() {
  const [path] = useLocation()
  const { session } = useSession()
  const first = usePages().find(page => page.need !== 'anyone')
  // An operator without an account has no overview.
  if (path === '/' && first) return <Redirect to={first.path} replace />
  if (session.memberships.length === 0 && !session.user.operator) {
    return (
      <EmptyNote
        title="You belong to no account"
        text="Your login works, but has no account. Ask an owner of an account for an invitation."
      />
    )
  }
  return (
    <EmptyNote
      title="Page not found"
      text="Its address may be mistyped, or you have no permission for it."
      action={
        first && (
          <Button component={Link} href={first.path}>
            {' '}
            Go to {first.title.toLowerCase()}{' '}
          </Button>
        )
      }
    />
  )
}
