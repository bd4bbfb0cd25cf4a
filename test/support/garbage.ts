import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The memory that this process uses, after garbage collection. */
export function memoryInUse(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  // Buffers are freed concurrently with the first collection; the second one waits for that.
  collect()
  return process.memoryUsage()
}
