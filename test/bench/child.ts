import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A child process that prints one line when it is ready, and ends when its input ends. */
export type Child = {
  pid: number
  /** The first line, as JSON. */
  ready: unknown
  /** The next line after `question`, as JSON. */
  ask(question: string): Promise<unknown>
  stop(): Promise<void>
}

const running = new Set<ChildProcess>()
/** The server stops its database too, which takes a moment. */
const STOP_LIMIT_MS = 15_000

/** Ends all children that are still running. */
export async function stopChildren(): Promise<void> {
  const ends = [...running].map(child => once(child, 'close'))
  for (const child of running) child.kill('SIGTERM')
  const limit = setTimeout(() => {
    for (const child of running) child.kill('SIGKILL')
  }, STOP_LIMIT_MS)
  await Promise.all(ends)
  clearTimeout(limit)
}

/** Tracks a child, so that it cannot outlive this process. */
export function watch<C extends ChildProcess>(child: C): C {
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

/** Runs a file with this Node; rejects when it ends before it is ready. */
export async function startChild(file: string, args: readonly string[] = []): Promise<Child> {
  const child = watch(spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] }))
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  async function next(): Promise<unknown> {
    const line = await lines.next()
    if (line.done) throw new Error(`${file} ended too soon`)
    return JSON.parse(line.value)
  }
  return {
    pid: child.pid!,
    ready: await next(),
    ask(question) {
      child.stdin.write(`${question}\n`)
      return next()
    },
    stop() {
      child.stdin.end()
      return ended
    },
  }
}
