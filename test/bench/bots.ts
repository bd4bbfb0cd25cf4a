import { fileURLToPath } from 'node:url'
import { type Child, startChild } from './child.ts'
import { residentMb } from './cpu.ts'
import { type Figure, fixed, note } from './report.ts'
import { pause, type System, startSystem } from './system.ts'

const SINK = fileURLToPath(new URL('./bot-sink.ts', import.meta.url))
const BOTS = 200
const AT_ONCE = 10
/** Time for the garbage of the start and the registrations to be collected. */
const SETTLE_MS = 10_000
const MAX_MB = 100
const PATIENCE_MS = 60_000

/** The cost of idle bots, each of which long-polls for updates. */
export async function measureBots(quick: boolean): Promise<Figure[]> {
  note(`${BOTS} idle bots`)
  const sink = await startChild(SINK)
  const system = await startSystem({ accounts: 1 })
  try {
    await connect(system, sink)
    await pause(quick ? 3_000 : SETTLE_MS)
    const idleMb = residentMb(system.pid)
    await registerAll(system)
    await untilAllWait(sink)
    await pause(quick ? 3_000 : SETTLE_MS)
    const botsMb = residentMb(system.pid)
    note(`  ${fixed(idleMb, 0)} MB without, ${fixed(botsMb, 0)} MB with them`)
    return [
      {
        name: `memory, ${BOTS} idle bots`,
        measured: `${fixed(botsMb, 0)} MB`,
        baseline: `${fixed(idleMb, 0)} MB`,
        value: botsMb - idleMb,
        unit: ' MB',
        target: { most: MAX_MB },
      },
    ]
  } finally {
    await system.stop()
    await sink.stop()
  }
}

async function connect(system: System, sink: Child): Promise<void> {
  const { port } = sink.ready as { port: number }
  await system.admin('POST', '/connections', {
    provider: 'telegram',
    name: 'bots',
    channels: ['botapp_bot'],
    config: { apiRoot: `http://127.0.0.1:${port}` },
  })
}

async function registerAll(system: System): Promise<void> {
  const tokens = Array.from({ length: BOTS }, (_, nth) => `${1_000 + nth}:bench`)
  const work = async () => {
    for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) await register(system, token)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** Tries again after a second when the rate limit refuses. */
async function register(system: System, token: string): Promise<void> {
  for (;;) {
    const answer = await system.call('POST', '/botapp-bots', { token })
    if (answer.status === 201) return void (await answer.arrayBuffer())
    if (answer.status !== 429) throw new Error(`a bot was answered ${answer.status}: ${await answer.text()}`)
    await pause(1_000)
  }
}

async function untilAllWait(sink: Child): Promise<void> {
  const giveUpMs = performance.now() + PATIENCE_MS
  for (;;) {
    const { waiting } = (await sink.ask('how many')) as { waiting: number }
    if (waiting === BOTS) return
    if (performance.now() > giveUpMs) throw new Error(`only ${waiting} bots ask for updates`)
    await pause(100)
  }
}
