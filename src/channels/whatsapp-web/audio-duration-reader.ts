import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'

type Library = {
  parseBuffer(
    bytes: Uint8Array,
    type: undefined,
    options: { duration: true },
  ): Promise<{ format: { duration?: number } }>
}

// A process of its own: see audio-duration.ts. Baileys brings the library, and takes much longer to load itself.
const { parseBuffer } = createRequire(import.meta.resolve('baileys'))('music-metadata') as Library
const { format } = await parseBuffer(await buffer(process.stdin), undefined, { duration: true })
process.stdout.write(String(format.duration ?? ''))
