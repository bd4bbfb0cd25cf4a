import { useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { type Page, SECTIONS } from '../page.ts'
import classes from './frame.module.css'
import { usePages } from './use-pages.ts'

/** The pages that the person may open. */
export function Nav() {
  const [path] = useLocation()
  const shown = usePages()
  const here = currentPageOf(shown, path)
  const place = useRef<HTMLAnchorElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the current page when it changes
  useEffect(() => scrollToLink(place.current), [here?.path])
  return (
    <div>
      {SECTIONS.map(section => {
        const pages = shown.filter(page => page.section === section)
        if (pages.length === 0) return null
        return (
          <div key={section}>
            {section !== '' && <div className={classes.section}>{section}</div>}
            {pages.map(page => (
              <Link
                key={page.path}
                ref={page === here ? place : undefined}
                href={page.path}
                className={classes.link}
                aria-current={page === here ? 'page' : undefined}
              >
                <page.icon size={16} strokeWidth={1.9} aria-hidden />
                {page.title}
              </Link>
            ))}
          </div>
        )
      })}
    </div>
  )
}

/** Not by `scrollIntoView`, which would move the start of keyboard navigation past the skip link. */
function scrollToLink(link: HTMLElement | null): void {
  const view = link?.closest('.mantine-ScrollArea-viewport')
  if (!link || !view) return
  const [own, frame] = [link.getBoundingClientRect(), view.getBoundingClientRect()]
  if (own.top >= frame.top && own.bottom <= frame.bottom) return
  view.scrollTop += (own.top + own.bottom - frame.top - frame.bottom) / 2
}

/** The page with the longest path that is a prefix of `path`. */
function currentPageOf(pages: readonly Page[], path: string): Page | undefined {
  const fitting = pages.filter(
    page => path === page.path || (page.path !== '/' && path.startsWith(`${page.path}/`)),
  )
  return fitting.toSorted((left, right) => right.path.length - left.path.length)[0]
}
