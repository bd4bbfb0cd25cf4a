import { expect, test } from 'vitest'
import { findStrays } from '../../scripts/floors/strays.ts'

test.each([
  ['the environment', 'const home = process.env.HOME'],
  ['the environment', "const home = process?.env['HOME']"],
  ['the environment', "const { HOME } = process['env']"],
  ['the environment', 'const { env } = process'],
  ['the environment', "import { env } from 'node:process'"],
  ['the time', 'const atMs = Date.now()'],
  ['the time', 'const at = new Date()'],
  ['the time', 'const at = new Date'],
  ['the time', 'const at = Date()'],
  ['the time', 'const atMs = performance.now()'],
  ['the time', 'const at = process.hrtime.bigint()'],
  ['the time', 'setTimeout(run, 10)'],
  ['the time', 'fetch(url, { signal: AbortSignal.timeout(10) })'],
  ['the time', "import { setTimeout } from 'node:timers/promises'"],
  ['chance', 'const share = Math.random()'],
  ['chance', "import { randomUUID } from 'node:crypto'"],
  ['chance', 'crypto.getRandomValues(bytes)'],
  ['SQL', "const text = 'select * from messages'"],
  ['SQL', 'const text = `\n  update messages set status = $1`'],
  ['SQL', "await db.query({ name: 'all', text })"],
  ['SQL', 'await db.query<{ id: string }>({ name, text })'],
])('reports %s outside the files that may use it: %s', (what, code) => {
  const [stray] = findStrays('src/core/messages/send.ts', `// why\n${code}\n`)
  expect(stray).toMatch(`${what} (`)
  expect(stray).toMatch(/^src\/core\/messages\/send\.ts:[23]: /)
})

test.each([
  ['src/config.ts', 'process.env'],
  ['src/lib/clock.ts', 'Date.now()'],
  ['src/lib/random.ts', 'randomUUID()'],
  ['src/core/messages/store.ts', "'select 1'"],
  ['src/core/messages/hot-store.ts', 'db.query({})'],
  ['src/infra/db.ts', 'client.query({})'],
])('allows %s to use %s', (file, code) => {
  expect(findStrays(file, code)).toEqual([])
})

test.each(['new Date(atMs)', 'toDate(text)', 'process.pid', 'request.query', "'a select few'"])(
  'allows %s everywhere',
  code => {
    expect(findStrays('src/core/messages/send.ts', code)).toEqual([])
  },
)

test('ignores comments, and still reports code next to them', () => {
  const comments = '/**\n * Not Date.now(): see `process.env`.\n */\n// Math.random()\n/* new Date() */\n'
  expect(findStrays('src/core/a.ts', comments)).toEqual([])
  expect(findStrays('src/core/a.ts', `${comments}/* here */ Date.now()`)).toHaveLength(1)
  expect(
    findStrays('src/core/a.ts', `const either = /['"]/; const url = 'http://a/*'\nDate.now()`),
  ).toHaveLength(1)
})
