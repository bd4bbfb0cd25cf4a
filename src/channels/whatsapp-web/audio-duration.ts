import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Clock, withinMs } from '../../lib/clock.ts'

/** Far more than any honest file takes. */
const MAX_MS = 10_000
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 }
/** The build has it under the ending of this file. */
const READER = new URL(`audio-duration-reader${extname(import.meta.url)}`, import.meta.url)

/**
 * The duration of a recording in seconds; null where the file does not say. Read by a thread with little time and
 * memory: a file of some bytes can keep the library for days, or make it fill all memory.
 */
export async function readDuration(clock: Clock, bytes: Buffer): Promise<number | null> {
  const reader = new Worker(READER, { workerData: bytes, env: {}, resourceLimits: LIMITS })
  try {
    return (await withinMs(clock, MAX_MS, answerOf(reader))) || null
  } finally {
    await reader.terminate()
  }
}

function answerOf(reader: Worker): Promise<number | null> {
  return new Promise((resolve, reject) => {
    reader.once('message', resolve)
    reader.once('error', reject)
    reader.once('exit', () => reject(new Error('the thread ended')))
  })
}
