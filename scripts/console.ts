// Builds the console into dist/console, where the server looks for it. Run by `npm run console`; the server
// also runs it at its start if needed.
import { CONSOLE_DIR } from '../src/infra/console-build.ts'
import { buildConsole } from './console/build.ts'

await buildConsole(CONSOLE_DIR.replace(/[\\/]$/, ''))
