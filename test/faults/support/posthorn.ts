import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { programOf } from '../../support/program.ts'

/** The real program as a process of its own, as an operator starts it. */
export type Posthorn = {
  url: string
  pid: number
  /** Lines that it logged, as objects. */
  log: readonly LogLine[]
  /** Throws, with its last output, if it has exited. */
  checkAlive(): void
  /** Resolves when it has ended, with its exit code and the last line of its standard error. */
  ended(): Promise<{ code: number | null; words: string | undefined }>
  /** Kills it with SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}
export type LogLine = { level: string; message: string; url?: string } & Record<string, unknown>

export const OPERATOR_TOKEN = 'ph_op_of-the-faults'

/** Resolves once it serves; rejects with its output if it ends instead. */
export async function startPosthorn(env: Record<string, string>): Promise<Posthorn> {
  const child = spawn(process.execPath, programOf('serve'), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      POSTHORN_OPERATOR_TOKEN: OPERATOR_TOKEN,
      POSTHORN_MASTER_KEY: 'ab'.repeat(32),
      POSTHORN_LOG_LEVEL: 'info',
      ...env,
    },
  })
  const exit = once(child, 'exit')
  const log: LogLine[] = []
  let said = ''
  child.stderr!.on('data', chunk => {
    said += chunk
  })
  const serving = new Promise<string>(resolve => {
    createInterface(child.stdout!).on('line', line => {
      const entry = readLine(line)
      if (!entry) return
      log.push(entry)
      if (entry.message === 'serving') resolve(entry.url!)
    })
  })
  const url = await Promise.race([serving, exit.then(() => null)])
  if (url === null) throw new Error(`posthorn left at its start: ${said}${JSON.stringify(log.at(-1))}`)
  return {
    url,
    pid: child.pid!,
    log,
    checkAlive() {
      if (child.exitCode === null) return
      throw new Error(`posthorn ended with ${child.exitCode}: ${said}${JSON.stringify(log.slice(-3))}`)
    },
    async ended() {
      const [code] = (await exit) as [number | null]
      return { code, words: said.trim().split('\n').at(-1) }
    },
    kill: () => end(child, exit, 'SIGKILL').then(() => undefined),
    stop: () => end(child, exit, 'SIGTERM'),
  }
}

async function end(
  child: ChildProcess,
  exit: Promise<unknown[]>,
  signal: NodeJS.Signals,
): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal)
  return (await exit)[0] as number | null
}

function readLine(line: string): LogLine | null {
  try {
    return JSON.parse(line) as LogLine
  } catch {
    return null
  }
}

/**
 * The embedded server of a data directory, by PostgreSQL's pid file; null if that is missing or incomplete.
 */
export function findEmbedded(dataDir: string): { pid: number; url: string } | null {
  const [pid, , , , socketDir] = readLines(join(dataDir, 'postgres', 'postmaster.pid'))
  if (!pid || !socketDir) return null
  return {
    pid: Number(pid),
    url: `postgresql://posthorn@localhost/posthorn?host=${encodeURIComponent(socketDir)}`,
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
