import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts the CPU of processes in ticks of 10 ms, and that of threads by the nanosecond. */
const TICK_NS = 10_000_000

/** CPU that a process has used, in ns: every thread that it has now. */
export function cpuOf(pid: number): number {
  return threadsOf(pid).reduce((sum, thread) => sum + scheduled(`/proc/${pid}/task/${thread}/schedstat`), 0)
}

/** CPU of a process and its children, in ns, those that have ended included. */
export function cpuOfFamily(pid: number): number {
  const ended = numbersAfterName(pid)
  // Fields 16 and 17 of proc_pid_stat(5): what reaped children used.
  const reapedTicks = ended[13]! + ended[14]!
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuOf(each), reapedTicks * TICK_NS)
}

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

/** How busy all cores were since `before`, 0 to 1; a call without gives the start. */
export function machineTimes(): { busy: number; all: number } {
  const [, ...ticks] = read('/proc/stat').split('\n', 1)[0]!.split(/\s+/)
  const values = ticks.slice(0, 8).map(Number)
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

function scheduled(file: string): number {
  return Number(read(file).split(' ', 1)[0] || 0)
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && numbersAfterName(Number(name))[1] === pid)
    .map(Number)
}

/** Fields of /proc/<pid>/stat from the third on; the name before them may hold anything. */
function numbersAfterName(pid: number): number[] {
  const text = read(`/proc/${pid}/stat`)
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}

/** Empty for a process that ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
