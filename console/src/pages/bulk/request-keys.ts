import { newId } from '../../parts/new-id.ts'

/**
 * The idempotency key of the job that is about to be created: kept across reloads until the server has
 * confirmed the job. If the same file is sent in the same way again after an uncertain result, it is the same
 * job.
 */
const KEY = 'posthorn-bulk-keys'
const MAX_KEYS = 20

type StoredKeys = [of: string, key: string][]

/** `of` identifies the job: the file, the plan and the rate. */
export function requestKey(of: string): string {
  const kept = read()
  const found = kept.find(([known]) => known === of)
  if (found) return found[1]
  const key = `console-${newId()}`
  write([...kept, [of, key] as [string, string]].slice(-MAX_KEYS))
  return key
}

/** The next job gets a new key, even if it is the same in everything. */
export function removeRequestKey(of: string): void {
  write(read().filter(([known]) => known !== of))
}

/** Fallback without browser storage, while the page is open. */
let memoryKeys: StoredKeys | null = null

function read(): StoredKeys {
  if (memoryKeys) return memoryKeys
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '[]') as StoredKeys
  } catch {
    return []
  }
}

function write(kept: StoredKeys): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept))
  } catch {
    memoryKeys = kept
  }
}
