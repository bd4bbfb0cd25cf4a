import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import own from '../../package.json' with { type: 'json' }

const require = createRequire(import.meta.url)
const PACKAGE = require.resolve('@sparticuz/chromium')
/** It unpacks to wherever temporary files go, and takes half a file there for a whole one. */
const UNPACK = 'require(process.argv[1]).executablePath()'
const VERSION = own.devDependencies['@sparticuz/chromium']
/** Among the packages: when they are installed anew, so is this. */
const HOME = fileURLToPath(new URL(`../../node_modules/.cache/chromium-${VERSION}`, import.meta.url))

/** Chromium of an npm package: nothing is downloaded, nothing installed. `unpackChromium` puts it there. */
export const CHROMIUM = join(HOME, 'chromium')

/** Unpacks it once, beside its place, and moves it there when it is whole. */
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
    // Another run was first.
    if (!existsSync(HOME)) throw error
  }
}
