import { Tabs } from '@mantine/core'
import { type ReactNode, Suspense } from 'react'
import { useLocation } from 'wouter'
import { PageSkeleton } from './page.tsx'

export type UrlTab = { value: string; label: string; view: ReactNode }

/** Tabs with URLs: the first one at `path`, the others one segment below it. */
export function UrlTabs({ path, tab, tabs }: { path: string; tab?: string; tabs: readonly UrlTab[] }) {
  const [, go] = useLocation()
  const [first] = tabs
  const open = tabs.find(({ value }) => value === tab) ?? first!
  return (
    <Tabs
      value={open.value}
      onChange={value => go(value === first!.value || value === null ? path : `${path}/${value}`)}
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
  )
}
