import { residentMb } from './cpu.ts'
import { measure } from './measure.ts'
import { type Figure, fixed, note, noteMeasured } from './report.ts'
import { pause, type System, startSystem } from './system.ts'

const CONNECTIONS = 64
const ACCOUNTS = 100
/** A slow machine makes fewer sends than it should; the report says how many. */
const MOST_SECONDS = 150
const AFTER_START_MS = 10_000
/** V8 gives memory back some seconds after the work has ended. */
const IDLE_MS = 20_000
/** What may still be garbage that nobody collected yet, or a cache that was not full yet. */
const MOST_GROWTH = 1.1

/** Memory of the Node process: idle after the start, and after many sends and after many more. */
export async function measureMemory(quick: boolean): Promise<Figure[]> {
  const [few, many] = quick ? [10_000, 30_000] : [100_000, 500_000]
  const system = await startSystem({ accounts: ACCOUNTS })
  try {
    note('Memory of the Node process')
    await pause(AFTER_START_MS)
    const idle = residentMb(system.pid)
    note(`  ${fixed(idle, 0)} MB idle`)
    const afterFew = await after(system, few)
    const afterMany = await after(system, many - few)
    return [
      {
        name: 'memory, idle',
        measured: `${fixed(idle, 0)} MB`,
        baseline: '',
        value: idle,
        unit: ' MB',
        target: { most: 150 },
      },
      {
        name: 'memory, growth',
        measured: `${fixed(afterMany.idleMb, 0)} MB at ${(afterFew.sends + afterMany.sends).toLocaleString('en')}`,
        baseline: `${fixed(afterFew.idleMb, 0)} MB at ${afterFew.sends.toLocaleString('en')}`,
        value: afterMany.idleMb / afterFew.idleMb,
        target: { most: MOST_GROWTH },
      },
    ]
  } finally {
    await system.stop()
  }
}

async function after(system: System, requests: number): Promise<{ sends: number; idleMb: number }> {
  const load = { keys: system.keys, connections: CONNECTIONS, requests, seconds: MOST_SECONDS }
  const measured = await measure(system, load)
  noteMeasured(`${measured.sends.toLocaleString('en')} sends`, measured)
  const busyMb = residentMb(system.pid)
  await pause(IDLE_MS)
  const idleMb = residentMb(system.pid)
  note(`  ${fixed(busyMb, 0)} MB at work, ${fixed(idleMb, 0)} MB idle again`)
  return { sends: measured.sends, idleMb }
}
