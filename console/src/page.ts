import type { LucideIcon } from 'lucide-react'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { Permission } from '../../sdk/index.ts'
import type { Need } from './session/session.ts'

/** One page. The navigation, the command palette, the routes and the tests use this table. */
export type Page = {
  /** Its path; the first segment must not be one of the server's own: api, docs, media, webhooks, metrics. */
  path: string
  title: string
  section: Section
  icon: LucideIcon
  need: Need
  /** The permissions that its API calls need. */
  permissions?: readonly Permission[]
  component: LazyPage
  /** The route pattern, if the path has parameters; these are its props. */
  pattern?: string
  /** Further search terms for the command palette. */
  keywords?: string
  /** The key to press after `g`. */
  shortcut?: string
}

type PageComponent = ComponentType<Record<string, string | undefined>>
type LazyPage = LazyExoticComponent<PageComponent> & { load(): Promise<unknown> }

/** A page component that is loaded when it is opened, or by `load`. */
export function lazyPage(load: () => Promise<{ default: PageComponent }>): LazyPage {
  return Object.assign(lazy(load), { load })
}

export const SECTIONS = ['', 'Messages', 'Channels', 'Developers', 'Account', 'Operator'] as const
type Section = (typeof SECTIONS)[number]
