import { runCli } from './cli/main.ts'

// Nobody may read the progress of a command: that must not end it in the middle of its work.
process.stderr.on('error', () => {})
const code = await runCli(process.argv.slice(2))
// process.exit() drops output that a slow reader of a pipe has not taken yet, so both streams are flushed first.
process.stdout.on('error', () => {})
for (const stream of [process.stdout, process.stderr]) await new Promise(done => stream.write('', done))
process.exit(code)
