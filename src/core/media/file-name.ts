/** A name longer than this is no name; file systems and mail stop there too. */
const MOST_CHARACTERS = 255

/**
 * A file's name as a recipient may see it: without a path, which some clients
 * send, and without what no name has; `fallback` where nothing is left.
 */
export function readFileName(given: string | undefined, fallback: string): string {
  const last = (given ?? '').split(/[/\\]/).pop()!
  const clean = last
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
    .trim()
  if (clean === '' || /^\.+$/.test(clean)) return fallback
  return shorten(clean)
}

/** Keeps the extension: what opens the file is told by it. */
function shorten(name: string): string {
  const letters = [...name]
  if (letters.length <= MOST_CHARACTERS) return name
  const extension = /\.[a-z0-9]{1,10}$/i.exec(name)?.[0] ?? ''
  return letters.slice(0, MOST_CHARACTERS - extension.length).join('') + extension
}

/** The name of the file at an address: its last step, as its writer meant it; null where there is none. */
export function nameInUrl(url: string): string | null {
  const step = URL.parse(url)?.pathname.split('/').pop() ?? ''
  return readFileName(decode(step), '') || null
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}
