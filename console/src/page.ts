import type { LucideIcon } from 'lucide-react'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { Permission } from '../../sdk/index.ts'
import type { Need } from './session/session.ts'

/** One screen. The navigation, the palette, the routes and the tests are drawn from this table. */
export type Page = {
  /** Where it is; its first step must be none of the server's own: api, docs, media, webhooks, metrics. */
  path: string
  title: string
  section: Section
  icon: LucideIcon
  need: Need
  /** What it asks the API for needs this. */
  permission?: Permission
  component: Later
  /** Where its path has parameters: they are its props. */
  pattern?: string
  /** Other words by which the palette finds it. */
  words?: string
  /** After `g`. */
  shortcut?: string
}

type PageComponent = ComponentType<Record<string, string | undefined>>
type Later = LazyExoticComponent<PageComponent> & { load(): Promise<unknown> }

/** Loaded when it is opened, or asked for before. */
export function later(load: () => Promise<{ default: PageComponent }>): Later {
  return Object.assign(lazy(load), { load })
}

export const SECTIONS = ['', 'Messages', 'Channels', 'Developers', 'Account', 'Operator'] as const
type Section = (typeof SECTIONS)[number]
