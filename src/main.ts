import { runCli } from './cli/main.ts'

const code = await runCli(process.argv.slice(2))
// process.exit() drops output that a slow reader of a pipe has not taken yet, so both streams are flushed first.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {})
  await new Promise(done => stream.write('', done))
}
process.exit(code)
