import { isConsoleStale, startConsoleBuild } from '../infra/console-build.ts'
import type { ConsoleFiles } from '../infra/console-files.ts'
import type { Logger } from '../infra/log.ts'
import type { Progress } from '../infra/progress.ts'

/**
 * Builds the console if it is missing or older than its sources, while the server already serves. Returns at
 * once; `stop` cancels the build.
 */
export function buildStaleConsole(deps: { files: ConsoleFiles; log: Logger; progress: Progress }): {
  stop(): void
} {
  if (!isConsoleStale()) return { stop() {} }
  const { files, log, progress } = deps
  const build = startConsoleBuild()
  let stopped = false
  progress
    .step('building the console (once; the API serves meanwhile)', () => build.done)
    .catch(error => {
      if (stopped) return
      files.fail((error as Error).message)
      log.error({ err: error }, 'the console could not be built; everything else works')
    })
  return {
    stop() {
      stopped = true
      build.stop()
    },
  }
}
