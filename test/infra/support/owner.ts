// A process that owns an embedded server: node owner.ts <dataDir>. Prints one line of JSON when it is ready,
// runs until its standard input ends, then stops the server and exits.
import { startEmbedded } from '../../../src/infra/embedded.ts'
import { createLog } from '../../../src/infra/log.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentProgress } from '../../support/silent-progress.ts'

const embedded = await startEmbedded({
  dataDir: process.argv[2]!,
  clock: systemClock,
  log: createLog({ level: 'silent' }),
  progress: silentProgress,
})
process.stdout.write(`${JSON.stringify({ url: embedded.url, pid: embedded.pid() })}\n`)
process.stdin.resume()
process.stdin.once('end', () => void embedded.stop().then(() => process.exit(0)))
