/** The same file from the place that the page itself came from: its policy shows no other. */
export function ownPath(url: string): string {
  const { pathname, search } = new URL(url, location.origin)
  return pathname + search
}
