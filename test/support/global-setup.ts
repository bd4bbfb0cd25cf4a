import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { isConsoleStale, startConsoleBuild } from '../../src/infra/console-build.ts'
import { createDatabase } from '../../src/infra/db.ts'
import { startEmbedded } from '../../src/infra/embedded.ts'
import { createLog } from '../../src/infra/log.ts'
import { migrate } from '../../src/infra/migrate.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { VERSION } from '../../src/version.ts'
import { unpackChromium } from './chromium.ts'
import { moveToMemory } from './memory-dir.ts'
import { buildProgram } from './program.ts'
import { silentProgress } from './silent-progress.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's maintenance database, from which test databases are made. */
    serverUrl: string
    /** A migrated database that is used only as a template. */
    templateDatabase: string
    /** PostgreSQL's major version. */
    serverMajor: number
    /** The program in one file. */
    program: string
  }
}

/**
 * One server for the whole run: an embedded one in its own directory, or the one of TEST_DATABASE_URL (its
 * role must be allowed to create databases).
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const moveBack = moveToMemory(process.env)
  const [server, program] = await Promise.all([
    startServer(),
    buildProgram(),
    buildConsole(),
    prepareBrowser(),
  ])
  const templateDatabase = `posthorn_template_${process.pid}`
  await execute(server.url, `DROP DATABASE IF EXISTS ${templateDatabase}`)
  await execute(server.url, `CREATE DATABASE ${templateDatabase}`)
  const template = createDatabase({ connectionString: withDatabase(server.url, templateDatabase) })
  await migrate(template, { version: VERSION })
  await template.close()
  project.provide('serverUrl', server.url)
  project.provide('templateDatabase', templateDatabase)
  project.provide('serverMajor', await majorOf(server.url))
  project.provide('program', program.main)

  return async () => {
    await execute(server.url, `DROP DATABASE IF EXISTS ${templateDatabase} WITH (FORCE)`)
    await server.stop()
    program.remove()
    moveBack?.()
  }
}

/** Builds the console once per run, if its sources are newer: its tests need it. */
async function buildConsole(): Promise<void> {
  if (!isConsoleStale()) return
  await startConsoleBuild().done.catch(error => {
    console.error('!!! the console could not be built, its tests will fail:', error.message)
  })
}

/** Before all tests, so that they do not do it concurrently. */
async function prepareBrowser(): Promise<void> {
  await unpackChromium().catch(error => {
    console.error('!!! the browser could not be unpacked, the tests of the console will fail:', error.message)
  })
}

/**
 * Settings for durability across a power failure: not needed for test databases. Tests of PostgreSQL itself
 * start a server of their own, with the settings that ship.
 */
const FOR_GOOD = ['fsync', 'full_page_writes', 'synchronous_commit']

type Server = { url: string; stop(): Promise<void> }

async function startServer(): Promise<Server> {
  const external = process.env['TEST_DATABASE_URL']
  if (external) return { url: external, stop: async () => {} }
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-test-'))
  const embedded = await startEmbedded({
    dataDir,
    clock: systemClock,
    log: createLog({ level: 'error' }),
    progress: silentProgress,
  })
  const url = withDatabase(embedded.url, 'postgres')
  for (const setting of FOR_GOOD) await execute(url, `ALTER SYSTEM SET ${setting} = off`)
  await execute(url, 'SELECT pg_reload_conf()')
  return {
    url,
    async stop() {
      await embedded.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function majorOf(url: string): Promise<number> {
  const [row] = await execute(url, "SELECT current_setting('server_version_num')::integer / 10000 AS major")
  const major = row!['major'] as number
  if (major < 18)
    console.warn(`!!! PostgreSQL ${major}: tests of plans that only newer versions find are skipped`)
  return major
}

/** The same server, another database. */
function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

async function execute(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
