import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

type Library = {
  parseBuffer(
    bytes: Uint8Array,
    type: undefined,
    options: { duration: true },
  ): Promise<{ format: { duration?: number } }>
}

// A thread of its own: see audio-duration.ts. Baileys brings the library, and takes much longer to load itself.
const { parseBuffer } = createRequire(import.meta.resolve('baileys'))('music-metadata') as Library
const { format } = await parseBuffer(workerData as Uint8Array, undefined, { duration: true })
parentPort!.postMessage(format.duration ?? null)
