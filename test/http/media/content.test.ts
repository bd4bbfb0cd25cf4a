import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileKey } from '../../../src/core/media/asset.ts'
import type { AssetId } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { jpeg, pdf, png } from '../../support/files.ts'
import { uploadFile } from '../../support/media.ts'

const HOUR_MS = 3_600_000

describe('the preview of an uploaded file', () => {
  let app: TestApp
  let account: TestAccount

  beforeAll(async () => {
    app = await startTestApp()
    account = await app.createAccount()
  })
  afterAll(() => app.stop())

  const get = (path: string, headers: Record<string, string> = {}) => fetch(app.url + path, { headers })

  it('returns the bytes without a key, under a policy that runs no scripts', async () => {
    const bytes = jpeg(100_000)
    const { previewUrl } = await uploadFile(app, account.testKey, bytes, { fileName: 'Grüße (1).jpg' })
    const answer = await get(previewUrl)
    expect(answer.status).toBe(200)
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': String(bytes.length),
      'content-disposition': `inline; filename="Gr__e (1).jpg"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%281%29.jpg`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    })
  })

  it('serves a document as an attachment, never inline', async () => {
    const { previewUrl } = await uploadFile(app, account.testKey, pdf(), { fileName: 'terms.pdf' })
    const answer = await get(previewUrl)
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="terms.pdf"/)
    await answer.body?.cancel()
  })

  it.each<[string, string, number]>([
    ['bytes=0-3', 'bytes 0-3/', 4],
    ['bytes=7-7', 'bytes 7-7/', 1],
    ['bytes=-2000', 'bytes 0-1004/', 1_005],
    ['bytes=-5', 'bytes 1000-1004/', 5],
    ['bytes=1000-', 'bytes 1000-1004/', 5],
    ['bytes=900-5000', 'bytes 900-1004/', 105],
  ])('returns the requested range for %s', async (range, expected, length) => {
    const bytes = text(1_005)
    const { previewUrl } = await uploadFile(app, account.testKey, bytes)
    const answer = await get(previewUrl, { range })
    expect([answer.status, answer.headers.get('content-range')]).toEqual([206, `${expected}1005`])
    const part = Buffer.from(await answer.arrayBuffer())
    const start = Number(/bytes (\d+)/.exec(expected)![1])
    expect(part.equals(bytes.subarray(start, start + length))).toBe(true)
  })

  it.each(['bytes=1005-', 'bytes=-0'])('returns 416 for %s', async range => {
    const { previewUrl } = await uploadFile(app, account.testKey, text(1_005))
    const answer = await get(previewUrl, { range })
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */1005'])
    expect(await answer.json()).toMatchObject({ success: false, code: 'RANGE_NOT_SATISFIABLE' })
  })

  it.each(['bytes=5-2', 'bytes=', 'lines=1-2', 'bytes=0-1,4-5'])(
    'returns the whole file for %s',
    async range => {
      const { previewUrl } = await uploadFile(app, account.testKey, text(1_005))
      const answer = await get(previewUrl, { range })
      expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 1_005])
    },
  )

  it('breaks off without delay if the file on disk is truncated; earlier ranges still work', async () => {
    const { id, previewUrl } = await uploadFile(app, account.testKey, text(1_005))
    await truncate(join(app.dataDir, 'media', fileKey(id as AssetId)), 600)
    const atMost = { signal: AbortSignal.timeout(10_000) }
    const cut = fetch(app.url + previewUrl, atMost).then(answer => answer.text())
    await expect(cut).rejects.toThrow('terminated')
    expect((await (await get(previewUrl, { range: 'bytes=0-599' })).arrayBuffer()).byteLength).toBe(600)
  })

  it('returns 304 for a matching If-None-Match, and the whole file for a stale If-Range', async () => {
    const { previewUrl } = await uploadFile(app, account.testKey, png())
    const etag = (await get(previewUrl)).headers.get('etag')!
    for (const known of [etag, `W/${etag}`, `"another", ${etag}`, `W/"another",W/${etag}`, '*']) {
      expect((await get(previewUrl, { 'if-none-match': known })).status, known).toBe(304)
    }
    expect((await get(previewUrl, { 'if-none-match': '"another"' })).status).toBe(200)
    const stale = await get(previewUrl, { 'if-range': '"another"', range: 'bytes=0-3' })
    expect(stale.status).toBe(200)
  })

  it('requires the token of its own URL, which expires', async () => {
    const one = await uploadFile(app, account.testKey, png())
    const other = await uploadFile(app, account.testKey, png())
    const [, token] = one.previewUrl.split('token=')
    const flipped = (token!.startsWith('A') ? 'B' : 'A') + token!.slice(1)
    const path = (id: string, word: string) => `/media/${id}?token=${word}`
    expect((await get(path(one.id, token!))).status).toBe(200)
    for (const wrong of [
      path(other.id, token!),
      path(one.id, flipped),
      path(one.id, 'x'),
      path('ast_x', token!),
    ]) {
      expect((await get(wrong)).status).toBe(404)
    }
    expect((await get(`/media/${one.id}`)).status).toBe(400)
    await app.leap(26 * HOUR_MS)
    expect((await get(path(one.id, token!))).status).toBe(404)
  })

  it('keeps its URL within an hour, and the URL of the hour before stays valid', async () => {
    // A millisecond after the full hour.
    app.jump(HOUR_MS - (app.now() % HOUR_MS) + 1)
    const asset = await uploadFile(app, account.testKey, png())
    const urlNow = async () =>
      (await account.read<{ previewUrl: string }>(`/api/v2/templates/media/${asset.id}`)).previewUrl
    expect(asset.previewUrl.split('token=')[1]).toMatch(/^[\w-]{48}$/)
    expect(await urlNow()).toBe(asset.previewUrl)
    app.jump(HOUR_MS - 1)
    expect(await urlNow()).toBe(asset.previewUrl)
    app.jump(1)
    const next = await urlNow()
    expect(next).not.toBe(asset.previewUrl)
    for (const url of [asset.previewUrl, next]) expect((await get(url)).status).toBe(200)
  })

  it('the file can be read and deleted by its own account only', async () => {
    const stranger = await app.createAccount()
    const asset = await uploadFile(app, account.testKey, png())
    const path = `/api/v2/templates/media/${asset.id}`
    for (const method of ['GET', 'DELETE']) {
      const answer = await app.call(path, { method, key: stranger.testKey })
      expect([answer.status, answer.body['code']]).toEqual([404, 'NOT_FOUND'])
    }
    expect((await app.call(path, { key: null })).status).toBe(401)
    expect((await app.call('/api/v2/templates/media/ast_nothing', { key: account.testKey })).status).toBe(404)
  })

  it('returns 404 once the file is deleted', async () => {
    const asset = await uploadFile(app, account.testKey, png())
    const path = `/api/v2/templates/media/${asset.id}`
    const deleted = await app.call(path, { method: 'DELETE', key: account.testKey })
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { success: true, data: { id: asset.id, deleted: true } },
    ])
    expect((await app.call(path, { key: account.testKey })).status).toBe(404)
    expect((await app.call(path, { method: 'DELETE', key: account.testKey })).status).toBe(404)
    expect((await get(asset.previewUrl)).status).toBe(404)
  })
})

function text(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, at) => String(at % 10)).join(''))
}
