import { Tabs } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useLocation } from 'wouter'
import { Page, PageSkeleton } from '../../parts/page.tsx'
import { useSession } from '../../session/context.tsx'
import { Statistics } from './statistics.tsx'

const Blocks = lazy(() => import('./blocks.tsx'))
const Settings = lazy(() => import('./settings.tsx'))
const TryIt = lazy(() => import('./try-it.tsx'))

const TABS = [
  { value: 'statistics', label: 'Statistics', view: <Statistics /> },
  { value: 'blocks', label: 'Blocks', view: <Blocks /> },
  { value: 'settings', label: 'Settings', view: <Settings /> },
  { value: 'try', label: 'Try it', view: <TryIt /> },
]
const [FIRST] = TABS

/** Codes: how many come back, which were refused, how they are made, and one to try. */
export default function Verification({ tab }: { tab?: string }) {
  const [, go] = useLocation()
  const { can } = useSession()
  const tabs = TABS.filter(({ value }) => value !== 'try' || can('messages:create'))
  const open = tabs.find(({ value }) => value === tab) ?? FIRST!
  return (
    <Page
      title="Verification"
      lead="Codes that are sent to somebody, come back through your app, and are right once."
    >
      <Tabs
        value={open.value}
        onChange={value =>
          go(value === FIRST!.value || value === null ? '/verification' : `/verification/${value}`)
        }
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          {tabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ value, view }) => (
          <Tabs.Panel key={value} value={value}>
            <Suspense fallback={<PageSkeleton />}>{view}</Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}
