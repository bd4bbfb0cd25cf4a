import { type ChildProcess, spawn } from 'node:child_process'
import { extname } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Clock, within, withinMs } from '../../lib/clock.ts'
import { createSemaphore } from '../shared/semaphore.ts'

/** Far more than any honest file takes. The kernel counts processor time, and so ends a reader whose node is gone. */
const MAX_SECONDS = 10
const MAX_MS = MAX_SECONDS * 1_000
/** All sessions of this node share them: each takes up to some 150 MB. */
const MAX_READERS = 2
const READER_OPTIONS = ['--max-old-space-size=64', '--max-semi-space-size=4']
/** The build has it under the ending of this file. */
const READER = fileURLToPath(new URL(`audio-duration-reader${extname(import.meta.url)}`, import.meta.url))
/** Without a core dump: it would have the size of the reader's memory. */
const BOUNDED = `ulimit -c 0; ulimit -t ${MAX_SECONDS}; exec "$@"`

const readers = createSemaphore(MAX_READERS)

/**
 * The duration of a recording in seconds; null where the file does not say, no reader gets free, or `signal` aborts.
 * Read by a process with little time and memory: a file of some bytes can keep the library for days, or make it fill all
 * memory. A thread with limits of its own would not do: V8 ends the whole process where a thread's memory runs out within
 * one allocation.
 */
export async function readDuration(
  clock: Clock,
  file: () => Readable,
  signal: AbortSignal,
): Promise<number | null> {
  const place = await within(clock, MAX_MS, late => readers.acquire(1, AbortSignal.any([late, signal])))
  if (!place) return null
  const command = ['-c', BOUNDED, 'sh', process.execPath, ...READER_OPTIONS, READER]
  const reader = spawn('/bin/sh', command, { env: {}, stdio: ['pipe', 'pipe', 'ignore'], signal })
  try {
    return (await withinMs(clock, MAX_MS, answerOf(reader, file()))) || null
  } finally {
    reader.kill('SIGKILL')
    place.release()
  }
}

function answerOf(reader: ChildProcess, file: Readable): Promise<number> {
  return new Promise((resolve, reject) => {
    reader.on('error', reject)
    // Of a reader that ended before it took all, its answer, or the lack of one, says so.
    pipeline(file, reader.stdin!, () => {})
    text(reader.stdout!).then(answer => resolve(Number(answer)), reject)
  })
}
