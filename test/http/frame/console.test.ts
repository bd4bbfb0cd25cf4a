import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Route } from '../../../src/http/route.ts'
import { consoleAnyPage, consoleAssets, consolePage } from '../../../src/http/routes/console-page.ts'
import {
  type ConsoleFile,
  type ConsoleFiles,
  createConsoleFiles,
  MANIFEST,
} from '../../../src/infra/console-files.ts'
import { createFakeClock, type FakeClock, turn } from '../../support/fake-clock.ts'
import { lookUntil } from '../../support/look-until.ts'
import { demoRoutes } from './demo.ts'
import { type Frame, startFrame } from './frame.ts'

const INDEX = '<!doctype html><title>The console</title>'
const SCRIPT = `console.log("${'x'.repeat(2_000)}")`

let directory: string
let frame: Frame
const files = () => createConsoleFiles(directory, createFakeClock())
const asBrowser = { accept: 'text/html,application/xhtml+xml' }

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'posthorn-console-'))
  const consoleFiles = files()
  const routes: Route[] = [...demoRoutes(), consolePage({ consoleFiles }), consoleAssets({ consoleFiles })]
  routes.push(consoleAnyPage({ consoleFiles, routes: () => routes }))
  frame = await startFrame({ routes })
})
afterAll(async () => {
  await frame.close()
  await rm(directory, { recursive: true, force: true })
})

const read = (path: string, headers: Record<string, string> = {}) =>
  frame.call('GET', path, { key: null, headers })

describe('without a console and without a build', () => {
  it('browsers get a 503 page that reloads itself, and API clients a 404', async () => {
    const page = await read('/', asBrowser)
    expect(page.status).toBe(503)
    expect(page.headers.get('retry-after')).toBe('2')
    expect(page.text).toMatch(/is being built/)
    expect(page.text).toMatch(/http-equiv="refresh" content="2"/)
    expect(page.text).not.toMatch(/<script/)
    expect((await read('/assets/index-abcdefgh.js')).status).toBe(404)
    expect((await read('/nothing')).body).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('the console is served as soon as its build is in place', async () => {
    await putInPlace()
    expect((await read('/', asBrowser)).text).toBe(INDEX)
  })
})

describe('the console', () => {
  it('is served at every path that no route matches, to browsers only', async () => {
    for (const path of ['/messages', '/messages/msg_1?status=failed', '/a/b/c']) {
      expect((await read(path, asBrowser)).text, path).toBe(INDEX)
      expect((await read(path)).status, path).toBe(404)
    }
  })

  it('is replaced by a page that says so at an address that cannot be decoded; the API answers in JSON', async () => {
    for (const path of ['/%', '/messages/%E0%A4%A']) {
      const page = await read(path, asBrowser)
      expect(page.status, path).toBe(400)
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page.headers.get('x-content-type-options')).toBe('nosniff')
      expect(page.text).toMatch(/This address is not valid/)
      expect(page.text).toMatch(/<main>.*<a href="\/">.*<\/main>/s)
      expect(page.headers.get('content-security-policy')).toContain('img-src data:')
      const [known] = demoRoutes()
      for (const answer of [await read(path), await read(`/${known!.url.split('/')[1]}${path}`, asBrowser)])
        expect(answer.body, path).toMatchObject({ success: false, code: 'VALIDATION_ERROR' })
    }
  })

  it('does not replace 404 and 405 responses of the API', async () => {
    const [posted] = demoRoutes().filter(({ method, url }) => method === 'POST' && !url.includes(':'))
    const wrong = await read(posted!.url, asBrowser)
    expect(wrong.status).toBe(405)
    expect(wrong.headers.get('allow')).toContain('POST')
    const missing = await read(`/${posted!.url.split('/')[1]}/nowhere`, asBrowser)
    expect(missing.body).toMatchObject({ success: false, code: 'NOT_FOUND' })
    expect((await frame.call('POST', '/messages', { key: null, headers: asBrowser, body: {} })).status).toBe(
      404,
    )
  })

  it('is revalidated each time, and its hashed assets are cached forever', async () => {
    const index = await read('/', asBrowser)
    expect(index.headers.get('cache-control')).toBe('no-cache')
    const again = await read('/', { ...asBrowser, 'if-none-match': index.headers.get('etag')! })
    expect([again.status, again.text]).toEqual([304, ''])
    const script = await read('/assets/index-abcdefgh.js')
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  it('is compressed as Accept-Encoding allows', async () => {
    const encodingOf = async (accepted: string) =>
      (await frame.app.inject({ url: '/assets/index-abcdefgh.js', headers: { 'accept-encoding': accepted } }))
        .headers['content-encoding']
    expect(await encodingOf('gzip, deflate, br')).toBe('br')
    expect(await encodingOf('gzip')).toBe('gzip')
    expect(await encodingOf('br;q=0, gzip')).toBe('gzip')
    expect(await encodingOf('identity')).toBeUndefined()
    const zipped = await frame.app.inject({
      url: '/assets/index-abcdefgh.js',
      headers: { 'accept-encoding': 'gzip' },
    })
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(SCRIPT)
    expect(zipped.headers['vary']).toContain('Accept-Encoding')
  })

  it('serves only files that the build manifest lists', async () => {
    await writeFile(join(directory, 'assets', 'stray.js'), 'no')
    for (const path of [
      '/assets/stray.js',
      '/assets/../manifest.json',
      '/assets/%2e%2e/manifest.json',
      '/manifest.json',
    ]) {
      const answer = await frame.app.inject({ url: path })
      expect(answer.statusCode, path).toBe(404)
    }
  })
})

describe('while the console is being built, a page', () => {
  let place: string
  let clock: FakeClock
  let consoleFiles: ConsoleFiles
  let builder: Frame
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'posthorn-console-'))
    // Its only timers are those of waiting requests: the server has a clock of its own.
    clock = createFakeClock()
    consoleFiles = createConsoleFiles(place, clock)
    consoleFiles.beginBuild()
    const routes: Route[] = [...demoRoutes(), consolePage({ consoleFiles }), consoleAssets({ consoleFiles })]
    routes.push(consoleAnyPage({ consoleFiles, routes: () => routes }))
    builder = await startFrame({ routes })
  })
  afterEach(async () => {
    consoleFiles.stopWaiting()
    await builder.close()
    await rm(place, { recursive: true, force: true })
  })

  const open = (path = '/', signal?: AbortSignal) =>
    fetch(builder.origin + path, { headers: asBrowser, ...(signal && { signal }) }).then(async response => ({
      status: response.status,
      text: await response.text(),
    }))
  const waiting = (count: number) =>
    lookUntil(
      async () => clock.pending(),
      pending => pending === count,
      10_000,
    )

  it('waits until it is there', async () => {
    const pages = Promise.all([open(), open('/messages')])
    await waiting(2)
    await putInPlace(place)
    consoleFiles.endBuild(null)
    expect(await pages).toEqual([1, 2].map(() => ({ status: 200, text: INDEX })))
    expect(clock.pending()).toBe(0)
  })

  it('waits 25 s at most, and is then the 503 page', async () => {
    let isAnswered = false
    const page = open().finally(() => {
      isAnswered = true
    })
    await waiting(1)
    await clock.advance(24_999)
    expect([clock.pending(), isAnswered]).toEqual([1, false])
    await clock.advance(1)
    expect(await page).toMatchObject({ status: 503, text: expect.stringMatching(/is being built/) })
  })

  it('says that the build failed as soon as it has', async () => {
    const page = open()
    await waiting(1)
    consoleFiles.endBuild('no memory')
    expect(await page).toMatchObject({ status: 503, text: expect.stringMatching(/The build failed/) })
    expect(await open()).toMatchObject({ status: 503, text: expect.stringMatching(/The build failed/) })
  })

  it('does not wait for a client that has gone away', async () => {
    const gone = new AbortController()
    const page = open('/', gone.signal).catch(() => 'gone')
    await waiting(1)
    gone.abort()
    expect(await page).toBe('gone')
    await waiting(0)
  })

  it('is the 503 page at once while 64 others wait', async () => {
    const pages = Promise.all(Array.from({ length: 64 }, () => open()))
    await waiting(64)
    expect(await open()).toMatchObject({ status: 503, text: expect.stringMatching(/is being built/) })
    await putInPlace(place)
    consoleFiles.endBuild(null)
    expect(new Set((await pages).map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('does not wait once the server stops', async () => {
    const page = open()
    await waiting(1)
    consoleFiles.stopWaiting()
    expect((await page).status).toBe(503)
    expect((await open()).status).toBe(503)
    await turn()
    expect(clock.pending()).toBe(0)
  })
})

/** Writes the files in the order of a build: the manifest last. */
async function putInPlace(place = directory): Promise<void> {
  await mkdir(join(place, 'assets'))
  await writeFile(join(place, 'index.html'), INDEX)
  const script = join(place, 'assets', 'index-abcdefgh.js')
  await writeFile(script, SCRIPT)
  await writeFile(`${script}.br`, brotliCompressSync(SCRIPT))
  await writeFile(`${script}.gz`, gzipSync(SCRIPT))
  const listed: ConsoleFile[] = [
    {
      path: '/index.html',
      type: 'text/html; charset=utf-8',
      etag: '"1"',
      sizeBytes: INDEX.length,
      immutable: false,
      encoded: {},
    },
    {
      path: '/assets/index-abcdefgh.js',
      type: 'text/javascript; charset=utf-8',
      etag: '"2"',
      sizeBytes: SCRIPT.length,
      immutable: true,
      encoded: { br: brotliCompressSync(SCRIPT).length, gzip: gzipSync(SCRIPT).length },
    },
  ]
  await writeFile(join(place, MANIFEST), JSON.stringify(listed))
}
