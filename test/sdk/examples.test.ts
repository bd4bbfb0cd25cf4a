import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posthorn-examples-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

// Applications may use stricter settings than this project: with `exactOptionalPropertyTypes`, an undefined
// value, as from `process.env`, is not allowed for an optional string.
it('the examples in docs/sdk.md compile under the strictest settings', () => {
  const guide = readFileSync(join(ROOT, 'docs/sdk.md'), 'utf8')
  const examples = [...guide.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code)
  expect(examples.length).toBeGreaterThan(1)
  writeFileSync(
    join(dir, 'app.ts'),
    [...examples, 'declare const verificationId: string, code: string', 'export { sent }'].join('\n'),
  )
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        exactOptionalPropertyTypes: true,
        lib: ['es2024', 'esnext.disposable', 'esnext.array'],
        module: 'esnext',
        moduleResolution: 'bundler',
        types: ['node'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
        paths: { 'posthorn/sdk': [join(ROOT, 'sdk/index.ts')] },
      },
      include: ['app.ts'],
    }),
  )
  const { stdout, status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', dir], {
    encoding: 'utf8',
  })
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
}, 60_000)
