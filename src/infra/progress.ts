import type { Clock } from '../lib/clock.ts'
import { oneLine } from '../lib/one-line.ts'

/** Shows the progress of slow steps at the terminal. */
export type Progress = {
  /**
   * Shows `label` while `work` runs, then how long it took; `note` adds details meanwhile. Settles as `work`
   * does.
   */
  step<T>(label: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>
  /** Prints a line. */
  line(text: string): void
}

/** The properties of a stream such as `process.stderr` that are used. */
export type Terminal = { isTTY?: boolean; columns?: number; write(text: string): unknown }

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 80
/** A faster step leaves no line. */
const MIN_REPORTED_MS = 100
/** Without a spinner, a step that takes longer prints its label. */
const SLOW_MS = 500

/** A spinner on a terminal; whole lines elsewhere. */
export function createProgress(terminal: Terminal, clock: Clock): Progress {
  const show = terminal.isTTY ? spin : print

  function spin(label: string): (text: string, end?: 'done' | 'failed') => void {
    let note = ''
    let frame = 0
    let cancel = clock.after(FRAME_MS, draw)
    function draw(): void {
      const text = `${FRAMES[frame++ % FRAMES.length]} ${label}${note && `: ${note}`}`
      terminal.write(`\r\u001b[K${oneLine(text, terminal.columns)}`)
      cancel = clock.after(FRAME_MS, draw)
    }
    return (text, end) => {
      note = text
      if (!end) return
      cancel()
      terminal.write('\r\u001b[K')
      if (text !== '') terminal.write(`${end === 'done' ? '✓' : '✗'} ${label}${text}\n`)
    }
  }

  function print(label: string): (text: string, end?: 'done' | 'failed') => void {
    let note = ''
    const cancel = clock.after(SLOW_MS, () => terminal.write(`${label} …\n`))
    return (text, end) => {
      if (end) cancel()
      // Work that waits repeats the same note.
      else if (text === note) return
      note = text
      if (text !== '') terminal.write(`${label}${end ? text : `: ${text}`}\n`)
    }
  }

  return {
    async step(label, work) {
      const tell = show(label)
      const startMs = clock.monotonic()
      const took = () => `(${((clock.monotonic() - startMs) / 1000).toFixed(1)} s)`
      try {
        const result = await work(text => tell(text))
        tell(clock.monotonic() - startMs < MIN_REPORTED_MS ? '' : ` ${took()}`, 'done')
        return result
      } catch (error) {
        tell(` failed ${took()}`, 'failed')
        throw error
      }
    },
    line: text => void terminal.write(`${text}\n`),
  }
}
