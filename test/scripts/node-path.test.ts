import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

let checkout: string

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'posthorn-scripts-'))
  cpSync(join(ROOT, 'scripts/node-path.sh'), join(checkout, 'scripts/node-path.sh'))
  writeNode('installed', 'the installed Node')
})
afterEach(() => rmSync(checkout, { recursive: true }))

/** A program called `node` in this directory of the checkout, which prints a line and its last argument. */
function writeNode(directory: string, line: string): void {
  const path = join(checkout, directory, 'node')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\nfor last; do :; done\necho "${line}: $last"\n`, { mode: 0o755 })
}

/** The output of the npm script `start` where the machine's Node is the installed one. */
function runStart(): string {
  const PATH = [join(checkout, 'installed'), process.env['PATH']].join(delimiter)
  const { stdout, stderr } = spawnSync('sh', ['-c', scripts['start']!], {
    cwd: checkout,
    env: { PATH },
    encoding: 'utf8',
  })
  return stdout + stderr
}

test.each(['x64', 'arm64'])('npm start runs the Node of the package for %s', arch => {
  writeNode(`node_modules/node-linux-${arch}/bin`, 'the Node of the package')
  expect(runStart()).toBe('the Node of the package: serve\n')
})

test('npm start runs the installed Node where there is no package for the platform', () => {
  expect(runStart()).toBe('the installed Node: serve\n')
})

test('all npm scripts use the same Node', () => {
  const own = Object.values(scripts).filter(command => !command.startsWith('npm run '))
  expect(own.filter(command => !command.startsWith('. scripts/node-path.sh && '))).toEqual([])
  expect(own.length).toBeGreaterThan(10)
})
