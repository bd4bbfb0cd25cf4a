import { ACCOUNT_PAGES } from './account-pages.ts'
import { OPERATOR_PAGES } from './operator-pages.ts'
import type { Page } from './page.ts'

/** Every screen, in the order in which the navigation shows them. */
export const PAGES: readonly Page[] = [...ACCOUNT_PAGES, ...OPERATOR_PAGES]

/** Starts to load the page at `path`, while the session is still being read. */
export function loadPageAt(path: string): void {
  const step = `/${path.split('/')[1]!}`
  // If that fails, it is retried, and the error shown, when the page is rendered.
  PAGES.find(page => page.path === path || page.path === step)
    ?.component.load()
    .catch(() => {})
}
