import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts the CPU time of the whole machine in ticks of 10 ms, and that of threads in ns. */
const TICK_NS = 10_000_000

/** CPU that a process has used so far, in ns. */
export function cpuOf(pid: number): number {
  return threadsOf(pid).reduce((sum, thread) => {
    const [ranNs] = read(`/proc/${pid}/task/${thread}/schedstat`).split(' ', 1)
    return sum + Number(ranNs || 0)
  }, 0)
}

/**
 * A running total of the CPU time of a PostgreSQL server, in ns, to be compared between readings. It leaves
 * out the autovacuum workers, which work for earlier writes, and what a process used between the last reading
 * and its end.
 */
export function createServerMeter(postmaster: number): () => number {
  let last = new Map<number, number>()
  let total = 0
  return () => {
    const workers = childrenOf(postmaster).filter(pid => !isAutovacuum(pid))
    const now = new Map([postmaster, ...workers].map(pid => [pid, cpuOf(pid)]))
    for (const [pid, used] of now) total += used - (last.get(pid) ?? 0)
    last = now
    return total
  }
}

function isAutovacuum(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`).includes('autovacuum worker')
}

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

/** Time of all cores since the start of the machine, in ns. */
export function machineCpu(): { busy: number; all: number } {
  const [, ...ticks] = read('/proc/stat').split('\n', 1)[0]!.split(/\s+/)
  const values = ticks.slice(0, 8).map(each => Number(each) * TICK_NS)
  const all = values.reduce((sum, each) => sum + each, 0)
  return { busy: all - values[3]! - values[4]!, all }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)
}

/** The fourth field of /proc/<pid>/stat; the second one, a name, may contain spaces and parentheses. */
function parentOf(pid: string): number {
  const text = read(`/proc/${pid}/stat`)
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
}

/** Empty for a process that ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
