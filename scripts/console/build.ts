import { createHash } from 'node:crypto'
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type ConsoleFile, type Encoding, MANIFEST } from '../../src/infra/console-files.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { nameAside, removeLeftovers } from './leftovers.ts'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
}
/** Smaller files are as fast uncompressed. */
const WORTH_COMPRESSING_BYTES = 1_024
/** The names of Vite's output: `index-DdIqPzyS.js`. */
const HASHED = /^\/assets\/.+-[\w-]{8}\.\w+$/
/** Quality 11 takes ten times as long, and saves a twentieth. */
const BROTLI_QUALITY = 9

/** Writes the console's files into a directory. */
type Bundle = (outDir: string) => Promise<void>

/** Builds the console in a temporary directory, compresses it, and moves it to `place` when it is complete. */
export async function buildConsole(place: string, bundle: Bundle = runVite): Promise<void> {
  const directory = resolve(place)
  const parent = dirname(directory)
  mkdirSync(parent, { recursive: true })
  removeLeftovers(parent, { host: hostname(), nowMs: systemClock.now() })
  const aside = mkdtempSync(join(parent, nameAside(process.pid, hostname())))
  // mkdtemp makes a directory that only its owner may enter, but the server may run as another user.
  chmodSync(aside, 0o755)
  try {
    await bundle(aside)
    const files = await Promise.all(listFiles(aside).map(path => finish(aside, path)))
    writeFileSync(join(aside, MANIFEST), JSON.stringify(files, null, 1))
    swap(aside, directory)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

async function runVite(outDir: string): Promise<void> {
  // Also for builds that a test run starts.
  process.env['NODE_ENV'] = 'production'
  const { build } = await import('vite')
  await build({ configFile: 'console/vite.config.ts', logLevel: 'warn', build: { outDir } })
}

function listFiles(directory: string): string[] {
  const found = globSync('**/*', { cwd: directory, withFileTypes: true }).filter(entry => entry.isFile())
  return found
    .map(entry => join(entry.parentPath, entry.name).slice(directory.length).replaceAll('\\', '/'))
    .sort()
}

async function finish(directory: string, path: string): Promise<ConsoleFile> {
  const bytes = readFileSync(join(directory, path))
  const type = TYPES[extname(path)]
  if (type === undefined) throw new Error(`the console has ${path}, whose type nobody has told`)
  return {
    path,
    type,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 16)}"`,
    sizeBytes: bytes.length,
    immutable: HASHED.test(path),
    encoded: bytes.length < WORTH_COMPRESSING_BYTES ? {} : await compress(join(directory, path), bytes),
  }
}

async function compress(file: string, bytes: Buffer): Promise<Record<Encoding, number>> {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
    promisify(gzip)(bytes, { level: 9 }),
  ])
  writeFileSync(`${file}.br`, br)
  writeFileSync(`${file}.gz`, gz)
  return { br: br.length, gzip: gz.length }
}

/** Two renames; a request in between is told that the console is being built. */
function swap(aside: string, directory: string): void {
  const old = `${aside}-old`
  try {
    renameSync(directory, old)
  } catch {
    // There was no earlier build.
  }
  renameSync(aside, directory)
  rmSync(old, { recursive: true, force: true })
}
