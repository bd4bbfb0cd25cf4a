import { createHash } from 'node:crypto'
import type { Db } from '../../infra/db.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { claimJoined, readJoined } from './joined-store.ts'
import type { PartRow } from './parts-store.ts'

/** How long after a message its parts count as repeats: providers deliver at once again what we did not acknowledge. */
export const REPEAT_WINDOW_MS = 10 * MINUTE_MS
const DIGEST_BYTES = 16

/**
 * Parts without an id that are delivered again, since their acknowledgement was lost, are known by their content: the same
 * parties, reference, numbers and texts within minutes. A phone does not use a reference again before 255 others (3GPP TS
 * 23.040, 9.2.3.24.1). A text of one part has no reference: nothing tells its repeat from the same words once more.
 *
 * Returns the messages that are new, and remembers them. The caller holds the locks of `joinParts`.
 */
export async function withoutRepeats(
  db: Db,
  nowMs: number,
  messages: readonly PartRow[][],
): Promise<PartRow[][]> {
  const unnamed = messages.filter(isUnnamed)
  if (unnamed.length === 0) return [...messages]
  const rows = unnamed.map(parts => ({ ...parts[0]!, digests: Buffer.concat(parts.map(digestOf)) }))
  const fresh = await claimJoined(db, nowMs, nowMs - REPEAT_WINDOW_MS, rows)
  const repeats = new Set(unnamed.filter((_, at) => !fresh.has(at)))
  return messages.filter(parts => !repeats.has(parts))
}

/** Of incomplete messages those that are not the repeated parts of one that was complete. */
export async function withoutRepeatedParts(db: Db, incomplete: readonly PartRow[][]): Promise<PartRow[][]> {
  const unnamed = incomplete.filter(isUnnamed)
  if (unnamed.length === 0) return [...incomplete]
  const joined = await readJoined(
    db,
    unnamed.map(parts => parts[0]!),
  )
  const repeats = new Set(
    unnamed.filter((parts, at) => {
      const whole = joined.get(at)
      return whole !== undefined && parts.every(part => isPartOf(part, whole))
    }),
  )
  return incomplete.filter(parts => !repeats.has(parts))
}

function isUnnamed(parts: readonly PartRow[]): boolean {
  return parts.every(part => part.unnamed)
}

function isPartOf(part: PartRow, { digests, joinedAtMs }: { digests: Buffer; joinedAtMs: number }): boolean {
  const from = (part.number - 1) * DIGEST_BYTES
  const isSoon = part.receivedAtMs - joinedAtMs <= REPEAT_WINDOW_MS
  return isSoon && digests.subarray(from, from + DIGEST_BYTES).equals(digestOf(part))
}

function digestOf({ body }: PartRow): Buffer {
  return createHash('sha256').update(body).digest().subarray(0, DIGEST_BYTES)
}
