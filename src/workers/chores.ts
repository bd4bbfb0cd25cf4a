import type { LinkLog } from '../channels/provider.ts'
import type { Clock } from '../lib/clock.ts'
import { type Loop, startLoop } from './loop.ts'

/** A small, repeatable piece of housekeeping: any node may do it at any time, twice included. */
export type Chore = {
  name: string
  everyMs: number
  run(): Promise<unknown>
}

/** Runs each chore at its pace. A chore that fails is tried again at its next time. */
export function startChores(chores: readonly Chore[], clock: Clock, log: LinkLog): { stop(): Promise<void> } {
  const loops: Loop[] = chores.map(chore =>
    startLoop({
      clock,
      everyMs: chore.everyMs,
      async round() {
        await chore.run()
        return undefined
      },
      onError: error =>
        log.debug({ err: error, chore: chore.name }, 'a chore failed; it will be tried again'),
    }),
  )
  return {
    async stop() {
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }
}
