import { type ConsoleBuild, isConsoleStale, startConsoleBuild } from '../infra/console-build.ts'
import type { ConsoleFiles } from '../infra/console-files.ts'
import type { Logger } from '../infra/log.ts'
import type { Progress } from '../infra/progress.ts'

export type StaleConsole = {
  /** Builds it while the server already serves. Returns at once. */
  build(): void
  /** Cancels the build. */
  stop(): void
}

/**
 * Whether the console is missing or older than its sources. If so, requests for it wait from now on until `build`
 * has ended; otherwise `build` does nothing.
 */
export function findStaleConsole(deps: {
  files: ConsoleFiles
  log: Logger
  progress: Progress
}): StaleConsole {
  if (!isConsoleStale()) return { build() {}, stop() {} }
  const { files, log, progress } = deps
  let running: ConsoleBuild | null = null
  let stopped = false
  files.beginBuild()
  return {
    build() {
      const build = startConsoleBuild()
      running = build
      progress
        .step('building the console (once; the API serves meanwhile)', () => build.done)
        .then(() => files.endBuild(null))
        .catch(error => {
          if (stopped) return
          files.endBuild((error as Error).message)
          log.error({ err: error }, 'the console could not be built; everything else works')
        })
    },
    stop() {
      stopped = true
      running?.stop()
    },
  }
}
