import { ACCOUNT_PAGES } from './account-pages.ts'
import { OPERATOR_PAGES } from './operator-pages.ts'
import type { Page } from './page.ts'

/** Every screen, in the order in which the navigation shows them. */
export const PAGES: readonly Page[] = [...ACCOUNT_PAGES, ...OPERATOR_PAGES]

/** Begins to load the page at `path`, while it is still being found out who asks for it. */
export function loadPageAt(path: string): void {
  const step = `/${path.split('/')[1]!}`
  // Where that fails it is tried again, and told, when the page is drawn.
  PAGES.find(page => page.path === path || page.path === step)
    ?.component.load()
    .catch(() => {})
}
