import { residentMb } from './cpu.ts'
import { measure } from './measure.ts'
import { type Figure, fixed, note, noteMeasured } from './report.ts'
import { pause, type System, startSystem } from './system.ts'

const CONNECTIONS = 64
const ACCOUNTS = 100
/** Ends a run early on a slow machine; the report says how many sends it made. */
const MAX_SECONDS = 110
/** Time for the work after a send, and for garbage collection. */
const IDLE_MS = 3_000
/** Caches fill, and the allocator's fragmentation varies. */
const MAX_GROWTH = 1.1

const COLLECTOR = new URL('./collect-on-signal.ts', import.meta.url).href

/**
 * Memory of the Node process: idle after its start; and of another one after many sends and after many more,
 * both times after a garbage collection.
 */
export async function measureMemory(quick: boolean): Promise<Figure[]> {
  note('Memory of the Node process')
  return [
    await measureIdle(quick ? 3_000 : 10_000),
    await measureGrowth(quick ? [10_000, 30_000] : [100_000, 500_000]),
  ]
}

async function measureIdle(afterMs: number): Promise<Figure> {
  const system = await startSystem({ accounts: ACCOUNTS })
  try {
    await pause(afterMs)
    const idleMb = residentMb(system.pid)
    note(`  ${fixed(idleMb, 0)} MB idle`)
    return {
      name: 'memory, idle',
      measured: `${fixed(idleMb, 0)} MB`,
      baseline: '',
      value: idleMb,
      unit: ' MB',
      target: { most: 150 },
    }
  } finally {
    await system.stop()
  }
}

async function measureGrowth([few, many]: readonly [number, number]): Promise<Figure> {
  const system = await startSystem({ accounts: ACCOUNTS, nodeFlags: ['--expose-gc', '--import', COLLECTOR] })
  try {
    const first = await after(system, few)
    const second = await after(system, many - few)
    return {
      name: 'memory, growth',
      measured: `${fixed(second.keptMb, 0)} MB at ${(first.sends + second.sends).toLocaleString('en')}`,
      baseline: `${fixed(first.keptMb, 0)} MB at ${first.sends.toLocaleString('en')}`,
      value: second.keptMb / first.keptMb,
      target: { most: MAX_GROWTH },
    }
  } finally {
    await system.stop()
  }
}

async function after(system: System, requests: number): Promise<{ sends: number; keptMb: number }> {
  const load = { keys: system.keys, connections: CONNECTIONS, requests, seconds: MAX_SECONDS }
  const measured = await measure(system, load)
  noteMeasured(`${measured.sends.toLocaleString('en')} sends`, measured)
  const busyMb = residentMb(system.pid)
  await pause(IDLE_MS)
  process.kill(system.pid, 'SIGUSR2')
  await pause(IDLE_MS)
  const keptMb = residentMb(system.pid)
  note(`  ${fixed(busyMb, 0)} MB at work, ${fixed(keptMb, 0)} MB kept`)
  return { sends: measured.sends, keptMb }
}
