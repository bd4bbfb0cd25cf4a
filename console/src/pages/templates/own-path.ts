/** The file's path on the page's own origin, since the content security policy allows no other. */
export function ownPath(url: string): string {
  const { pathname, search } = new URL(url, location.origin)
  return pathname + search
}
