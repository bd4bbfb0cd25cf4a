import { readConfig } from '../config.ts'
import { createLog } from '../infra/log.ts'
import { createProgress } from '../infra/progress.ts'
import { systemClock } from '../lib/clock.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Run } from './run.ts'
import { openStore } from './store.ts'

/** `posthorn migrate`: so that an upgrade can be done before any node serves. */
export const run: Run = async args => {
  if (args.length > 0) throw new Refusal('posthorn migrate takes no arguments.', { exitCode: 2 })
  const config = readConfig()
  const store = await openStore({
    config,
    clock: systemClock,
    log: createLog({ level: 'error' }),
    progress: createProgress(process.stderr, systemClock),
    onLost: error => {
      throw error
    },
  })
  await store.stop()
  const { applied } = store
  process.stdout.write(
    applied.length === 0 ? 'The database is up to date.\n' : `Applied ${applied.join(', ')}.\n`,
  )
  return 0
}
