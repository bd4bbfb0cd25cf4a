import { writeSync } from 'node:fs'
import { destination } from 'pino'

const STDOUT = 1
/** For how long a process that leaves waits for a reader who is slow. */
const LAST_WORDS_MS = 1_000
const LOOK_MS = 10

/** What the library keeps of lines that wait for those before them. */
type Waiting = { _bufs: string[] }

/**
 * Standard output, written without blocking, and at the end of the process as far as somebody reads
 * it: the library's own flush tries for ever what nobody reads any more, deaf to every signal.
 */
export function createOutput(): ReturnType<typeof destination> {
  const output = destination({ dest: STDOUT, sync: false })
  output.flushSync = () => {
    const { _bufs: lines } = output as unknown as Waiting
    writeWhile(Buffer.from(lines.splice(0).join('')), LAST_WORDS_MS)
  }
  return output
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
