import { Button } from '@mantine/core'
import { Link, Redirect, useLocation } from 'wouter'
import { Page } from '../parts/page.tsx'
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
      <Page
        title="You belong to no account"
        lead="Your login works, but has no account. Ask an owner of an account for an invitation."
      />
    )
  }
  return (
    <Page title="Page not found" lead="Its address may be mistyped, or you have no permission for it.">
      {first && (
        <Button component={Link} href={first.path}>
          {`Go to ${first.title.toLowerCase()}`}
        </Button>
      )}
    </Page>
  )
}
