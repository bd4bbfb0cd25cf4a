/** The longest file name, as in file systems and mail. */
const MAX_CHARACTERS = 255

/**
 * A file's name as recipients see it: without a path, which some clients
 * send, and without characters that are not allowed in names; `fallback` where nothing is left.
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

/** Keeps the extension, which decides what opens the file. */
function shorten(name: string): string {
  const letters = [...name]
  if (letters.length <= MAX_CHARACTERS) return name
  const extension = /\.[a-z0-9]{1,10}$/i.exec(name)?.[0] ?? ''
  return letters.slice(0, MAX_CHARACTERS - extension.length).join('') + extension
}

/** The file name in a URL: the decoded last segment of its path; null without one. */
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
