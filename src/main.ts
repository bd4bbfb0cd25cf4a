import { runCli } from './cli/main.ts'

process.exit(await runCli(process.argv.slice(2)))
