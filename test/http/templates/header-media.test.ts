import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMediaSweep } from '../../../src/core/media/sweep.ts'
import type { FileStore } from '../../../src/infra/file-store.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { HOUR_MS } from '../../../src/lib/durations.ts'
import { type AssetId, toUuid } from '../../../src/lib/ids.ts'
import { faultPaths, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { jpeg, mp4, png, sha256 } from '../../support/files.ts'
import { form } from '../../support/form.ts'
import { mediaLeft, uploadFile } from '../../support/media.ts'
import { invalidAt } from '../messages-send/refusal.ts'
import { createTemplateCalls, refusedAt, type TemplateCalls } from './support.ts'

/** Media headers: the template's own file, and one given with a send. */

let app: TestApp
let account: TestAccount
let templates: TemplateCalls
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  templates = createTemplateCalls(app, account)
})
afterAll(() => app.stop())

const OFFER = {
  name: 'offer',
  category: 'chatapp',
  subType: 'marketing',
  headerType: 'image',
  body: 'For you, {{1}}',
}

async function taken(to: string, template: object) {
  const answer = await app.during(account.send({ to, template }))
  const id = messageIdOf(answer)
  const inbox = await app.until(
    () => account.inbox(to),
    items => items.some(each => each.messageId === id),
  )
  return inbox.find(each => each.messageId === id)!
}

describe('a template header with an uploaded file', () => {
  test('is previewed, sent, and can be replaced for one send', async () => {
    const asset = await uploadFile(app, account.liveKey, png(), { fileName: 'offer.png' })
    const made = await templates.made({ ...OFFER, headerAssetId: asset.id })
    expect(made).toMatchObject({
      headerType: 'image',
      headerAssetId: asset.id,
      headerPreviewUrl: expect.stringContaining(asset.id),
      allowsHeaderMediaOverride: true,
    })
    const preview = await app.call(made.headerPreviewUrl!)
    expect([preview.status, preview.headers.get('content-type')]).toEqual([200, 'image/png'])
    await templates.decided(made.id)

    const use = { id: made.id, variablesIndexed: ['Ada'] }
    const own = await taken('+12025550171', use)
    expect(own.template!.header).toMatchObject({
      type: 'image',
      media: { mimetype: 'image/png', sha256: sha256(png()) },
    })
    const other = await uploadFile(app, account.liveKey, jpeg(), { fileName: 'other.jpg' })
    const replaced = await taken('+12025550172', { ...use, headerAssetId: other.id })
    expect(replaced.template!.header).toMatchObject({
      media: { mimetype: 'image/jpeg', sha256: sha256(jpeg()) },
    })

    const video = await uploadFile(app, account.liveKey, mp4(), { fileName: 'a.mp4' })
    const to = '+12025550173'
    await invalidAt(account, { to, template: { ...use, headerAssetId: video.id } }, 'template.headerAssetId')
  })

  test('derives its header type from the file', async () => {
    const { headerType: _, ...offer } = OFFER
    const { id } = await uploadFile(app, account.liveKey, mp4(), { fileName: 'offer.mp4' })
    const made = await templates.made({ ...offer, name: 'untyped', headerAssetId: id })
    expect(made).toMatchObject({ headerType: 'video', headerAssetId: id, allowsHeaderMediaOverride: true })
    const sms = { name: 'untyped', category: 'sms', subType: 'marketing', content: 'Hi', headerAssetId: id }
    await refusedAt(templates, sms, ['headerType'])
  })

  test('of a platform template is uploaded by the operator only, validated, and visible to every account', async () => {
    const path = '/api/admin/templates/media'
    const bring = (bytes: Buffer, token: string) => {
      const { body, type } = form([{ name: 'file', bytes, fileName: 'logo.png', type: null }])
      const headers = { 'content-type': type, authorization: `Bearer ${token}` }
      return app.call(path, { method: 'POST', body, headers })
    }
    expect((await bring(png(), 'wrong')).status).toBe(401)
    expect(faultPaths(await bring(Buffer.from([0, 1, 2, 3]), app.operatorToken))).toEqual(['file'])
    const json = await app.admin('POST', '/templates/media', { file: 'x' })
    expect(json.status).toBe(415)
    const uploaded = await bring(png(), app.operatorToken)
    expect(uploaded.status, uploaded.text).toBe(201)
    const { asset } = uploaded.body['data'] as { asset: { id: string } }
    const theirs = await app.call(`/api/v2/templates/media/${asset.id}`, { key: account.liveKey })
    expect(theirs.status).toBe(404)
    const made = await app.admin('POST', '/templates', {
      ...OFFER,
      name: 'shared_offer',
      headerAssetId: asset.id,
    })
    expect(made.status, made.text).toBe(201)
    const { template } = made.body['data'] as { template: { id: string } }
    expect(await templates.read(template.id)).toMatchObject({ headerType: 'image', headerAssetId: asset.id })
  })

  test('cannot be deleted while its template exists', async () => {
    const { id } = await uploadFile(app, account.liveKey, png(), { fileName: 'kept.png' })
    const template = await templates.made({ ...OFFER, name: 'kept', headerAssetId: id })
    const remove = () => app.call(`/api/v2/templates/media/${id}`, { method: 'DELETE', key: account.liveKey })
    expect((await remove()).status).toBe(409)
    expect((await templates.call('DELETE', `/${template.id}`)).status).toBe(200)
    expect((await remove()).status).toBe(200)
  })

  test('can be used again for a while after its template was deleted, however long ago it was uploaded', async () => {
    const { id } = await uploadFile(app, account.liveKey, png(), { fileName: 'again.png' })
    const rejected = await templates.made({ ...OFFER, name: 'reject_it', headerAssetId: id })
    await app.db.query({
      name: 'age_upload',
      text: `update media set used_at = now() - interval '30 days' where id = $1`,
      values: [toUuid(id as AssetId)],
    })
    expect((await templates.call('DELETE', `/${rejected.id}`)).status).toBe(200)
    const files = { remove: async () => {} } as unknown as FileStore
    await createMediaSweep({ db: app.db, clock: systemClock, files, keepMs: 24 * HOUR_MS })()
    expect((await templates.made({ ...OFFER, name: 'better', headerAssetId: id })).headerAssetId).toBe(id)
  })

  test('is rejected when the file is of another type or another account’s', async () => {
    const video = await uploadFile(app, account.liveKey, mp4(), { fileName: 'a.mp4' })
    await refusedAt(templates, { ...OFFER, name: 'typed', headerAssetId: video.id }, ['headerAssetId'])
    const text = { ...OFFER, name: 'typed', headerType: 'text', headerValue: 'Hi', headerAssetId: video.id }
    await refusedAt(templates, text, ['headerAssetId'])
    const other = await app.createAccount()
    const foreign = await uploadFile(app, other.liveKey, png(), { fileName: 'foreign.png' })
    await refusedAt(templates, { ...OFFER, name: 'typed', headerAssetId: foreign.id }, ['headerAssetId'])
  })

  test('is rejected when headerMediaUrl is not a public URL', async () => {
    const before = await mediaLeft(app)
    for (const headerMediaUrl of ['http://127.0.0.1/a.png', 'https://10.0.0.1/a.png', 'nonsense']) {
      await refusedAt(templates, { ...OFFER, name: 'fetched', headerMediaUrl }, ['headerMediaUrl'])
    }
    expect(await mediaLeft(app)).toEqual(before)
  })
})
