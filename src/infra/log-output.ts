import { writeSync } from 'node:fs'
import { destination } from 'pino'
import { systemClock, toIso } from '../lib/clock.ts'

const STDOUT = 1
/** Most bytes that wait for a slow reader, such as a stopped terminal; further lines are lost. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024
/** How long a process that exits waits for a slow reader. */
const FINAL_FLUSH_MS = 1_000
const LOOK_MS = 10

/** The library's buffer of lines that are not written yet. */
type Waiting = { _bufs: string[] }

/**
 * Standard output, written without blocking. At the exit of the process, it is flushed only as far as it is
 * read: the library's own flush would retry for ever, and block signals. Lost lines are counted, and reported
 * by a log line.
 */
export function createOutput(): ReturnType<typeof destination> {
  const output = destination({ dest: STDOUT, sync: false, maxLength: MOST_WAITING_BYTES })
  let lost = 0
  // Standard output may be a file on a full disk, or a closed pipe: the next line retries. The log must not
  // end the process.
  output.on('error', () => {})
  output.on('drop', () => {
    lost++
  })
  output.on('drain', () => {
    if (lost === 0) return
    const line = lostLine(lost)
    lost = 0
    output.write(line)
  })
  output.flushSync = () => {
    const { _bufs: lines } = output as unknown as Waiting
    writeWhile(Buffer.from(lines.splice(0).join('')), FINAL_FLUSH_MS)
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
