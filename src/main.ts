import { runCli } from './cli/main.ts'

const code = await runCli(process.argv.slice(2))
// Whoever reads a pipe may be slower than we: an exit would take with it what is not read yet.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {})
  await new Promise(done => stream.write('', done))
}
process.exit(code)
