import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What this process has in use, without garbage. */
export function memoryInUse(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  // Buffers are let go of beside the first round: the second one waits for that.
  collect()
  return process.memoryUsage()
}
