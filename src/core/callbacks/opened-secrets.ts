import type { Seal } from '../../infra/seal.ts'
import { createLru } from '../../lib/lru.ts'

/** Secrets kept in memory: opening one costs some 100 µs, and every request to an endpoint needs its secret. */
const MAX_REMEMBERED = 1_000

/** A seal that caches opened secrets; the process has the master key in memory anyway. */
export function cacheOpenedSecrets(seal: Pick<Seal, 'open'>): Pick<Seal, 'open'> {
  const opened = createLru<string, Buffer>(MAX_REMEMBERED)
  return {
    open(sealed, context) {
      const name = `${context} ${sealed.toString('base64')}`
      const held = opened.get(name)
      if (held) return held
      const plain = seal.open(sealed, context)
      opened.set(name, plain)
      return plain
    },
  }
}
