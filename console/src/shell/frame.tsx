import { AppShell, Burger, Group, ScrollArea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Suspense, useEffect } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { PageSkeleton } from '../parts/page.tsx'
import { Wordmark } from '../parts/wordmark.tsx'
import { useSession } from '../session/context.tsx'
import { AccountSwitch } from './account-switch.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import classes from './frame.module.css'
import { HeaderTools } from './header-tools.tsx'
import { ModeSwitch } from './mode-switch.tsx'
import { Nav } from './nav.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { Palette } from './palette.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { UnreachableBanner } from './unreachable-banner.tsx'
import { usePages } from './use-pages.ts'

/** The console around its page. */
export function Frame() {
  const [navOpen, nav] = useDisclosure(false)
  const [path] = useLocation()
  const { mode, membership } = useSession()
  const pages = usePages()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when the page changes
  useEffect(nav.close, [path])
  const simulated = mode === 'test' && membership !== null

  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 236, breakpoint: 'sm', collapsed: { mobile: !navOpen } }}
      padding={0}
      classNames={{ header: classes.header!, navbar: classes.navbar!, main: classes.main! }}
      data-mode={simulated ? 'test' : 'live'}
    >
      <a href="#main" className={classes.skip}>
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap" justify="space-between">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={navOpen}
              onClick={nav.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={navOpen ? 'Close the navigation' : 'Open the navigation'}
              aria-expanded={navOpen}
            />
            <Link href="/" className={classes.home} aria-label="Posthorn: go to the overview">
              <Wordmark />
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            {membership !== null && <ModeSwitch />}
            <HeaderTools />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Pages">
        <AppShell.Section p="sm" pb={4}>
          <AccountSwitch />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea} type="scroll" px="sm" pb="md">
          <Nav />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <UnreachableBanner />
        {/* Remounted for another account: pages hold data of one account. */}
        <ErrorBoundary key={membership?.account.id} at={path}>
          <Suspense fallback={<PageSkeleton />}>
            <Switch>
              {pages.map(page => (
                <Route key={page.path} path={page.pattern ?? page.path}>
                  {params => <page.component {...(params as Record<string, string | undefined>)} />}
                </Route>
              ))}
              <Route>
                <NotFoundPage />
              </Route>
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </AppShell.Main>
      <Palette />
      <Shortcuts />
    </AppShell>
  )
}
