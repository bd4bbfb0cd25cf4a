import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildConsole } from '../../scripts/console/build.ts'
import { nameAside } from '../../scripts/console/leftovers.ts'

let dist: string
beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'posthorn-dist-'))
})
afterEach(() => rmSync(dist, { recursive: true, force: true }))

const place = () => join(dist, 'console')

async function bundle(outDir: string): Promise<void> {
  writeFileSync(join(outDir, 'index.html'), '<title>built</title>')
}

/** The pid of a process that no longer runs. */
function deadPid(): number {
  const { pid } = spawnSync(process.execPath, ['--version'])
  return pid
}

function leave(name: string, ageMs = 0): string {
  mkdirSync(join(dist, name, 'assets'), { recursive: true })
  writeFileSync(join(dist, name, 'assets', 'index.js'), 'half')
  const at = new Date(Date.now() - ageMs)
  utimesSync(join(dist, name), at, at)
  return name
}

test('a build leaves only its result, and removes what builds of processes that ended have left', async () => {
  const dead = nameAside(deadPid(), hostname())
  leave(`${dead}abcdef`)
  leave(`${dead}ghijkl-old`)
  await buildConsole(place(), bundle)
  expect(readdirSync(dist)).toEqual(['console'])
  expect(readFileSync(join(place(), 'index.html'), 'utf8')).toMatch(/built/)
  expect(existsSync(join(place(), 'manifest.json'))).toBe(true)
})

test('a build does not touch that of a process that runs, also its own, nor of another machine within a day', async () => {
  const kept = [
    leave(`${nameAside(process.pid, hostname())}abcdef`),
    leave(`${nameAside(process.ppid, hostname())}abcdef`),
    leave(`${nameAside(deadPid(), 'elsewhere')}abcdef`),
    leave('.console-abcdef'),
    leave('console-of-mine'),
  ]
  const anHourOverADayMs = 25 * 3_600_000
  leave(`${nameAside(deadPid(), 'elsewhere')}ghijkl`, anHourOverADayMs)
  leave('.console-ghijkl', anHourOverADayMs)
  await buildConsole(place(), bundle)
  expect(readdirSync(dist).sort()).toEqual([...kept, 'console'].sort())
})

test('two builds at once do not remove what the other writes', async () => {
  const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = buildConsole(place(), async outDir => {
    begun.resolve()
    await finish.promise
    await bundle(outDir)
  })
  await begun.promise
  await buildConsole(place(), bundle)
  finish.resolve()
  await first
  expect(readdirSync(dist)).toEqual(['console'])
})

test('a build that fails leaves nothing', async () => {
  await expect(buildConsole(place(), () => Promise.reject(new Error('no memory')))).rejects.toThrow(
    'no memory',
  )
  expect(readdirSync(dist)).toEqual([])
})
