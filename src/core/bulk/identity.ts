import { createHash } from 'node:crypto'
import type { Seal } from '../../infra/seal.ts'
import { canonicalize } from '../../lib/canonical-json.ts'
import { createUtf8Buffer } from '../../lib/utf8-buffer.ts'

/**
 * A keyed hash of a job's request, independent of the order of keys in the body and in rows. Rows may hold one-time
 * codes: without the key, one in a short job could be found by trying all codes.
 */
export type Identity = {
  /** Rows in canonical JSON, in their order. */
  add(texts: readonly string[]): void
  /** 32 bytes. */
  digest(name: string, perSecond: number): Buffer
}

/** Room for the rows that are parsed at once; for longer ones it grows. */
const ROOM_BYTES = 131_072
const LINE_FEED = 0x0a

export function createIdentity(seal: Pick<Seal, 'hashSecret'>): Identity {
  const rows = createHash('sha256')
  const lines = createUtf8Buffer(ROOM_BYTES)
  return {
    add(texts) {
      for (const text of texts) {
        lines.text(text)
        // Canonical JSON has no line breaks, so no two lists of rows give the same text.
        lines.byte(LINE_FEED)
      }
      rows.update(lines.content())
      lines.clear()
    },
    digest(name, perSecond) {
      const whole = createHash('sha256').update(canonicalize({ name, perSecond })).update(rows.digest())
      return seal.hashSecret(`bulk:${whole.digest('hex')}`)
    },
  }
}
