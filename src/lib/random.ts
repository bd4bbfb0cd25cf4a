import { randomFillSync } from 'node:crypto'

/** The source of randomness; passed in like the clock. */
export type Random = {
  /** `size` unpredictable bytes. */
  bytes(size: number): Buffer
  /** A number from 0 up to but not including 1, for jitter; not for secrets. */
  fraction(): number
}

/** Bytes are read from the kernel in blocks: one call for many ids. */
const BLOCK_BYTES = 4096

/** A generator on the operating system's cryptographic source. */
export function createRandom(): Random {
  const block = Buffer.alloc(BLOCK_BYTES)
  let used = BLOCK_BYTES

  function bytes(size: number): Buffer {
    if (size > BLOCK_BYTES) return randomFillSync(Buffer.alloc(size))
    if (used + size > BLOCK_BYTES) {
      randomFillSync(block)
      used = 0
    }
    used += size
    return Buffer.from(block.subarray(used - size, used))
  }

  return { bytes, fraction: () => bytes(4).readUInt32BE() / 2 ** 32 }
}
