import { writeSync } from 'node:fs'
import { destination } from 'pino'
import { systemClock, toIso } from '../lib/clock.ts'

const STDOUT = 1
/** What waits for a reader who is slow, as one who stopped a terminal; what comes behind it is lost. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024
/** For how long a process that leaves waits for a reader who is slow. */
const LAST_WORDS_MS = 1_000
const LOOK_MS = 10

/** What the library keeps of lines that wait for those before them. */
type Waiting = { _bufs: string[] }

/**
 * Standard output, written without blocking, and at the end of the process as far as somebody reads
 * it: the library's own flush tries for ever what nobody reads any more, deaf to every signal. Lines that
 * there is no room for are counted, and told of by a line of their own.
 */
export function createOutput(): ReturnType<typeof destination> {
  const output = destination({ dest: STDOUT, sync: false, maxLength: MOST_WAITING_BYTES })
  let lost = 0
  // A file on a full disk, a reader who is gone: the next line is tried with what waits. No log is worth the node.
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
    writeWhile(Buffer.from(lines.splice(0).join('')), LAST_WORDS_MS)
  }
  return output
}

function lostLine(lost: number): string {
  const time = toIso(systemClock.now())
  const message = 'lines of this log are lost: nobody read them in time'
  return `${JSON.stringify({ level: 'warn', time, lost, message })}\n`
}

/** As much as is taken until there is an error, or the time is over. */
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
