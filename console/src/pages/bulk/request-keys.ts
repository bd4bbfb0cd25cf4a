import { newId } from '../../parts/new-id.ts'

/**
 * The idempotency key of what is about to be run: made once, and kept over
 * reloads until the server has said that it has the job. Whoever sends the
 * same file in the same way again, not knowing whether it got through, gets
 * the same job.
 */
const KEY = 'posthorn-bulk-keys'
const MOST = 20

type Kept = [of: string, key: string][]

/** `of` tells one job from another: the file, the plan, the pace. */
export function requestKey(of: string): string {
  const kept = read()
  const found = kept.find(([known]) => known === of)
  if (found) return found[1]
  const key = `console-${newId()}`
  write([...kept, [of, key] as [string, string]].slice(-MOST))
  return key
}

/** The next one is another job, were it the same in everything. */
export function forgetRequestKey(of: string): void {
  write(read().filter(([known]) => known !== of))
}

/** What a browser does not keep, for as long as the page is open. */
let unkept: Kept | null = null

function read(): Kept {
  if (unkept) return unkept
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '[]') as Kept
  } catch {
    return []
  }
}

function write(kept: Kept): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept))
  } catch {
    unkept = kept
  }
}
