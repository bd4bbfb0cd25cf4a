import { writeSync } from 'node:fs'
import { destination } from 'pino'
import { type Cancel, systemClock, toIso } from '../lib/clock.ts'

const STDOUT = 1
/** Most bytes that wait for a slow reader, such as a stopped terminal; further lines are lost. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** How long a process that exits waits for a slow reader. */
const FINAL_FLUSH_MS = 1_000
const LOOK_MS = 10
/** A write wakes another thread, which costs as much as several lines: lines are written together. */
const BATCH_MS = 10
const BATCH_LENGTH = 16_384

/** The library's buffer of what is not written yet. */
type Waiting = { _bufs: string[] }

/**
 * Standard output, written without blocking, at most 10 ms later. At the exit of the process, it is flushed
 * only as far as it is read: the library's own flush would retry for ever, and block signals. Lost lines are
 * counted, and reported by a log line.
 */
export function createOutput(): ReturnType<typeof destination> {
  const output = destination({ dest: STDOUT, sync: false, maxLength: MAX_WAITING_BYTES })
  const write = output.write.bind(output)
  let batch: string[] = []
  let batchLength = 0
  let cancelTimer: Cancel | null = null
  let lost = 0

  function takeBatch(): string {
    cancelTimer?.()
    cancelTimer = null
    const text = batch.join('')
    batch = []
    batchLength = 0
    return text
  }

  output.write = line => {
    batch.push(line)
    batchLength += line.length
    if (batchLength >= BATCH_LENGTH) return write(takeBatch())
    cancelTimer ??= systemClock.after(BATCH_MS, () => write(takeBatch()))
    return true
  }
  // Standard output may be a file on a full disk, or a closed pipe: the next line retries. The log must not
  // end the process.
  output.on('error', () => {})
  output.on('drop', (text: string) => {
    lost += text.split('\n').length - 1
  })
  output.on('drain', () => {
    if (lost === 0) return
    const line = lostLine(lost)
    lost = 0
    output.write(line)
  })
  output.flushSync = () => {
    const { _bufs: waiting } = output as unknown as Waiting
    const text = waiting.splice(0).join('') + takeBatch()
    writeWhile(Buffer.from(text), FINAL_FLUSH_MS)
  }
  return output
}

function lostLine(lost: number): string {
  const time = toIso(systemClock.now())
  const message = 'log lines were dropped: the output was not read in time'
  return `${JSON.stringify({ level: 'warn', time, lost, message })}\n`
}

/** Writes until there is an error, or the time is over. */
function writeWhile(bytes: Buffer, forMs: number): void {
  let leftMs = forMs
  for (let at = 0; at < bytes.length && leftMs > 0; ) {
    try {
      at += writeSync(STDOUT, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
      leftMs -= LOOK_MS
    }
  }
}
