import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const BIN = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
const PACKAGE = new URL('../../package.json', import.meta.url)
const SERVER = new URL('../../src/http/server.ts', import.meta.url).href
const APP = new URL('../../src/app.ts', import.meta.url).href

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

describe('the startup of the server', () => {
  it('does not load libraries that only some installations need, such as those for mail and S3', async () => {
    const script = `
      import { registerHooks } from 'node:module'
      const loaded = new Set()
      registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context) } })
      await import(${JSON.stringify(APP)})
      const { createServer } = await import(${JSON.stringify(SERVER)})
      await createServer({ routes: [], log: console, ids: { next: () => 'req' } })
      console.log(JSON.stringify([...loaded]))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
    const packages = new Set(
      (JSON.parse(stdout) as string[]).map(url => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]),
    )
    expect(packages).toContain('pg')
    for (const heavy of [
      'nodemailer',
      '@aws-sdk/client-s3',
      'file-type',
      'ajv',
      '@fastify/fast-json-stringify-compiler',
    ]) {
      expect(packages).not.toContain(heavy)
    }
  })

  it('compiles the source once, in another process, and reuses the result', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'posthorn-cache-'))
    directories.push(cache)
    // The flags of npm start: the compile cache ignores code compiled under other flags.
    const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { scripts: { start: string } }
    const flags = scripts.start.split(' ').filter(word => word.startsWith('--'))
    expect(flags).not.toEqual([])
    const serve = () =>
      run(process.execPath, [...flags, BIN, 'serve', 'what'], {
        env: { ...process.env, NODE_COMPILE_CACHE: cache },
      }).catch((error: { code: number }) => error.code)
    expect(await serve()).toBe(2)
    const [version, ...others] = readdirSync(cache)
    expect(others).toEqual([])
    const compiled = readdirSync(join(cache, version!))
    expect(compiled).toContain('posthorn-compiled')
    // The first run has compiled everything, so the second one adds nothing.
    expect(await serve()).toBe(2)
    expect(readdirSync(join(cache, version!)).toSorted()).toEqual(compiled.toSorted())
  })
})
