// Builds the console into dist/console, where the server finds it. `npm run console`; a start does it by itself.
import { CONSOLE_DIR } from '../src/infra/console-build.ts'
import { buildConsole } from './console/build.ts'

await buildConsole(CONSOLE_DIR.replace(/[\\/]$/, ''))
