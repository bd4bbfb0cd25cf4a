import { lazy } from 'react'
import { Page } from '../../parts/page.tsx'
import { UrlTabs } from '../../parts/url-tabs.tsx'
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

/** Verification: statistics, blocks, settings, and a form to try it. */
export default function Verification({ tab }: { tab?: string }) {
  const { can } = useSession()
  return (
    <Page
      title="Verification"
      lead="Send one-time codes to people, and check the codes that they enter in your app."
    >
      <UrlTabs
        path="/verification"
        {...(tab !== undefined && { tab })}
        tabs={TABS.filter(({ value }) => value !== 'try' || can('messages:create'))}
      />
    </Page>
  )
}
