import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { MediaAsset } from '../../../src/contract/media.ts'
import type { SandboxMessage } from '../../../src/contract/sandbox.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import {
  type Answer,
  faultPaths,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'
import { jpeg, mp4, pdf, png, sha256 } from '../../support/files.ts'
import { type FormPart, form } from '../../support/form.ts'
import { mediaLeft, uploadFile } from '../../support/media.ts'
import { type SmtpPeer, startSmtpServer } from '../../support/smtp-server.ts'

const HOUR_MS = 3_600_000
const MAIL = {
  channel: 'email_user',
  to: 'ann@example.com',
  content: { subject: 'Hi', text: 'See the file' },
}

describe('sends that carry uploaded files', () => {
  let app: TestApp
  let account: TestAccount

  beforeAll(async () => {
    app = await startTestApp()
    account = await app.createAccount({ plan: { allowsScheduling: true } })
  })
  afterAll(() => app.stop())

  const remove = (id: string) =>
    app.call(`/api/v2/templates/media/${id}`, { method: 'DELETE', key: account.testKey })
  const taken = (messageId: string): Promise<SandboxMessage> =>
    app
      .until(
        () => account.inbox(),
        inbox => inbox.some(each => each.messageId === messageId),
      )
      .then(inbox => inbox.find(each => each.messageId === messageId)!)

  describe('attachment.assetId', () => {
    it.each<[string, Record<string, unknown>]>([
      ['e-mail', MAIL],
      ['a session', { channel: 'user_chatapp_session', to: '+12025550170', content: { text: 'See' } }],
      [
        'a bot',
        {
          channel: 'botapp_bot',
          to: '4711',
          content: { text: 'See' },
          conversationContext: { moduleType: 'botapp_bot', accountId: 'bot', chatId: '4711' },
        },
      ],
    ])('delivers the file unchanged over %s', async (_, body) => {
      const bytes = pdf(300_000)
      const asset = await uploadFile(app, account.testKey, bytes, { fileName: 'terms.pdf' })
      const answer = await account.send({ ...body, attachment: { type: 'document', assetId: asset.id } })
      expect(answer.status, answer.text).toBe(200)
      expect((await taken(messageIdOf(answer))).media).toEqual([
        {
          type: 'document',
          mimetype: 'application/pdf',
          fileName: 'terms.pdf',
          sizeBytes: bytes.length,
          sha256: sha256(bytes),
        },
      ])
    })

    it('can be sent under another file name, and as a document whatever its type', async () => {
      const asset = await uploadFile(app, account.testKey, png(), { fileName: 'a.png' })
      const attachment = { type: 'document', assetId: asset.id, fileName: 'b.png', mimetype: 'text/plain' }
      const answer = await account.send({ ...MAIL, attachment })
      const [media] = (await taken(messageIdOf(answer))).media!
      expect(media).toMatchObject({ type: 'document', fileName: 'b.png', mimetype: 'image/png' })
    })

    it.each<[string, Record<string, unknown>, number, string]>([
      ['an unknown id', { assetId: 'ast_01890a5dac96774bbcceb3020a' }, 404, 'attachment.assetId'],
      ['a malformed id', { assetId: 'nothing' }, 404, 'attachment.assetId'],
      ['an asset with another attachment type', { assetId: 'OWN', type: 'video' }, 400, 'attachment.type'],
      [
        'an asset together with a publicUrl',
        { assetId: 'OWN', publicUrl: 'https://example.com/a.png' },
        400,
        'attachment.publicUrl',
      ],
      ['an asset together with base64', { assetId: 'OWN', base64: 'AAAA' }, 400, 'attachment.base64'],
      ['an asset of another account', { assetId: 'FOREIGN' }, 404, 'attachment.assetId'],
    ])('rejects %s, and stores nothing', async (_, attachment, status, path) => {
      const ids: Record<string, string> = {
        OWN: (await uploadFile(app, account.testKey, png())).id,
        FOREIGN: (await uploadFile(app, (await app.createAccount()).testKey, png())).id,
      }
      const assetId = ids[String(attachment['assetId'])] ?? attachment['assetId']
      const before = await account.footprint()
      const answer = await account.send({ ...MAIL, attachment: { type: 'image', ...attachment, assetId } })
      expect([answer.status, faultPaths(answer)]).toEqual([status, [path]])
      expect(await account.footprint()).toEqual(before)
    })

    it('is sent by a bot, which ignores base64 beside it', async () => {
      const asset = await uploadFile(app, account.testKey, png())
      const conversationContext = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }
      const attachment = { type: 'image', assetId: asset.id, base64: 'AAAA' }
      const answer = await account.send({ to: '7000000100', conversationContext, attachment })
      expect(answer.status, answer.text).toBe(200)
      expect((await taken(messageIdOf(answer))).media![0]!.sha256).toBe(asset.sha256)
    })

    it('of an unknown file is estimated as not deliverable', async () => {
      const attachment = { type: 'image', assetId: 'ast_01890a5dac96774bbcceb3020a' }
      const answer = await app.call('/api/v2/messages/estimate', {
        method: 'POST',
        key: account.testKey,
        body: { ...MAIL, attachment },
      })
      expect(answer.body['data']).toMatchObject({
        deliverable: false,
        reasons: [{ code: 'NOT_FOUND', path: 'attachment.assetId' }],
      })
    })

    it('delivers the file to each recipient of a batch', async () => {
      const bytes = png()
      const asset = await uploadFile(app, account.testKey, bytes)
      const to = ['bob@example.com', 'cat@example.com']
      const answer = await account.send({ ...MAIL, to, attachment: { type: 'image', assetId: asset.id } })
      expect(answer.status).toBe(200)
      for (const { messageId } of answer.body['results'] as { messageId: string }[]) {
        expect((await taken(messageId)).media![0]!.sha256).toBe(sha256(bytes))
      }
    })

    it('prevents the deletion of the file while a message waits for it', async () => {
      const asset = await uploadFile(app, account.testKey, png())
      const attachment = { type: 'image', assetId: asset.id }
      const scheduleAt = new Date(app.now() + HOUR_MS).toISOString()
      const waiting = await account.send({ ...MAIL, attachment, options: { scheduleAt } })
      await taken(messageIdOf(await account.send({ ...MAIL, attachment })))
      expect((await remove(asset.id)).status).toBe(409)
      const path = `/api/v2/messages/${messageIdOf(waiting)}/cancel`
      expect((await app.call(path, { method: 'POST', key: account.testKey })).status).toBe(200)
      expect((await remove(asset.id)).status).toBe(200)
    })

    it('keeps the file until a scheduled message is sent, then lets it expire', async () => {
      const asset = await uploadFile(app, account.testKey, png())
      const attachment = { type: 'image', assetId: asset.id }
      const scheduleAt = new Date(app.now() + 30 * HOUR_MS).toISOString()
      const answer = await account.send({ ...MAIL, attachment, options: { scheduleAt } })
      expect(answer.body['status']).toBe('scheduled')
      expect((await remove(asset.id)).status).toBe(409)
      await app.leap(29 * HOUR_MS)
      await account.read(`/api/v2/templates/media/${asset.id}`)
      await app.leap(HOUR_MS)
      expect((await taken(messageIdOf(answer))).media![0]!.sha256).toBe(asset.sha256)
      // Each leap runs the sweep once: the first finds the message finished, the second finds the file unused.
      await app.leap(2 * HOUR_MS)
      await app.leap(25 * HOUR_MS)
      const gone = await app.until(
        () => app.call(`/api/v2/templates/media/${asset.id}`, { key: account.testKey }),
        ({ status }) => status === 404,
      )
      expect(gone.body['code']).toBe('NOT_FOUND')
    })
  })
})

describe('an uploaded file in an e-mail over SMTP', () => {
  let app: TestApp
  let smtp: SmtpPeer

  afterEach(async () => {
    await app.stop()
    await smtp.close()
  })

  it('arrives unchanged', async () => {
    smtp = await startSmtpServer()
    app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
    const account = await app.createAccount()
    const connected = await app.admin('POST', '/connections', {
      provider: 'smtp',
      name: 'mail',
      channels: ['email_user'],
      config: { host: '127.0.0.1', port: smtp.port, secure: false, from: 'post@example.com' },
    })
    expect(connected.status, connected.text).toBe(201)
    const bytes = jpeg(2_000_000)
    const asset = await uploadFile(app, account.liveKey, bytes, { fileName: 'photo.jpg' })
    const answer = await account.send(
      { ...MAIL, attachment: { type: 'image', assetId: asset.id } },
      { live: true },
    )
    expect(answer.status, answer.text).toBe(200)
    await smtp.submitted(1)
    const mail = smtp.received[0]!.bytes.toString('latin1')
    expect(mail).toMatch(/Content-Type: image\/jpeg; name=photo\.jpg/)
    const [, encoded] = /filename=photo\.jpg\r\n\r\n([A-Za-z0-9+/=\r\n]+)\r\n--/.exec(mail)!
    expect(sha256(Buffer.from(encoded!, 'base64'))).toBe(asset.sha256)
  })
})

describe('a template whose header file is sent by form', () => {
  let app: TestApp
  let account: TestAccount
  let templateId: string

  const OFFICIAL = {
    name: 'order_photo',
    category: 'chatapp',
    subType: 'utility',
    language: 'en',
    provider: 'official_provider',
    body: 'Your order {{1}} left us.',
    bodyParameters: [{ index: 1, label: '4711' }],
  }
  const TEMPLATE = () => JSON.stringify({ id: templateId, variablesIndexed: ['4711'] })

  const post = (path: string, parts: readonly FormPart[], headers: Record<string, string> = {}) => {
    const { body, type } = form(parts)
    return app.call(path, {
      method: 'POST',
      key: account.testKey,
      body,
      headers: { 'content-type': type, ...headers },
    })
  }
  const create = (parts: readonly FormPart[]) => post('/api/v2/templates', parts)
  const send = (parts: readonly FormPart[], headers?: Record<string, string>) =>
    post('/api/v2/messages/send', parts, headers)
  const sendParts = (file: FormPart | null, fields: Record<string, string> = {}): FormPart[] => [
    ...Object.entries({
      to: '+12025550170',
      channel: 'official_chatapp',
      messageType: 'utility',
      template: TEMPLATE(),
      mediaType: 'image',
      ...fields,
    }).map(([name, text]) => ({ name, text })),
    ...(file ? [file] : []),
  ]
  const picture = (bytes = jpeg(50_000)): FormPart => ({
    name: 'headerMedia',
    bytes,
    fileName: 'photo.jpg',
    type: 'image/jpeg',
  })
  const taken = (messageId: string) =>
    app
      .until(
        () => account.inbox(),
        inbox => inbox.some(each => each.messageId === messageId),
      )
      .then(inbox => inbox.find(each => each.messageId === messageId)!)

  /** Uploads a file of exactly the bytes that the account has left. */
  async function fillUp(): Promise<MediaAsset> {
    const { rows } = await app.db.query<{ bytes: number }>({
      name: 'media_counted',
      text: `select sum(greatest(size, 65536))::bigint as bytes from media where account_id = $1`,
      values: [toUuid(account.id as `acc_${string}`)],
    })
    return uploadFile(app, account.testKey, Buffer.alloc(2 * 1_048_576 - rows[0]!.bytes, 'a'))
  }

  const headerOf = async (answer: Answer) => (await taken(messageIdOf(answer))).template!.header!

  beforeAll(async () => {
    app = await startTestApp({ env: { POSTHORN_MEDIA_ACCOUNT_MB: '2' } })
    account = await app.createAccount()
    const created = await create([
      { name: 'payload', text: JSON.stringify({ ...OFFICIAL, name: 'overridden' }) },
      { name: 'name', text: OFFICIAL.name },
      { name: 'headerMedia', bytes: jpeg(), fileName: 'sample.jpg', type: 'image/jpeg' },
    ])
    expect(created.status, created.text).toBe(201)
    const { template } = created.body['data'] as { template: { id: string } }
    templateId = template.id
    await app.until(
      () => account.read<{ status: string }>(`/api/v2/templates/${templateId}`),
      ({ status }) => status === 'approved',
    )
  })
  afterAll(() => app.stop())

  it('is created with the file, which cannot be deleted while the template exists', async () => {
    const template = await account.read<Record<string, string>>(`/api/v2/templates/${templateId}`)
    expect(template).toMatchObject({ name: 'order_photo', headerType: 'image', body: OFFICIAL.body })
    const assetId = template['headerAssetId']!
    const shown = await fetch(app.url + template['headerPreviewUrl'])
    expect(sha256(Buffer.from(await shown.arrayBuffer()))).toBe(sha256(jpeg()))
    const refused = await app.call(`/api/v2/templates/media/${assetId}`, {
      method: 'DELETE',
      key: account.testKey,
    })
    expect([refused.status, refused.body['code']]).toEqual([409, 'CONFLICT'])
  })

  it.each<[string, FormPart[], string]>([
    ['a payload that is not JSON', [{ name: 'payload', text: '{' }], 'payload'],
    ['a payload that is not an object', [{ name: 'payload', text: '[]' }], 'payload'],
    ['buttons that are not JSON', [{ name: 'buttons', text: 'x' }], 'buttons'],
    [
      'a number field that is not a number',
      [{ name: 'codeExpirationMinutes', text: 'ten' }],
      'codeExpirationMinutes',
    ],
    [
      'a file and an asset',
      [
        { name: 'headerAssetId', text: 'ast_x' },
        { name: 'headerMedia', bytes: jpeg(), type: 'image/jpeg' },
      ],
      'headerMedia',
    ],
    [
      'a file of another type than the header',
      [
        { name: 'headerType', text: 'video' },
        { name: 'file', bytes: jpeg(), type: 'image/jpeg' },
      ],
      'file',
    ],
  ])('is not created with %s', async (_, parts, path) => {
    const before = await mediaLeft(app)
    const fields = Object.entries({ ...OFFICIAL, name: 'another', bodyParameters: '[]' })
    const given = new Set(parts.map(part => part.name))
    const beside = fields
      .filter(([name]) => !given.has(name))
      .map(([name, value]) => ({ name, text: String(value) }))
    const answer = await create([...(given.has('payload') ? [] : beside), ...parts])
    expect([answer.status, faultPaths(answer)[0]]).toEqual([400, path])
    expect(await mediaLeft(app)).toEqual(before)
  })

  it('is sent with the file of the send request', async () => {
    const bytes = jpeg(70_000)
    const answer = await send(sendParts(picture(bytes)))
    expect(answer.status, answer.text).toBe(200)
    expect((await headerOf(answer)).media).toMatchObject({
      type: 'image',
      mimetype: 'image/jpeg',
      fileName: 'photo.jpg',
      sha256: sha256(bytes),
    })
  })

  it('is sent with its own file if the form has none', async () => {
    const answer = await send(sendParts(null))
    expect(answer.status, answer.text).toBe(200)
    expect((await headerOf(answer)).media!.sha256).toBe(sha256(jpeg()))
  })

  it.each<[string, () => FormPart[], string]>([
    [
      'a file of another type than mediaType',
      () => sendParts({ ...picture(), bytes: png(), type: 'image/png' } as FormPart, { mediaType: 'video' }),
      'headerMedia',
    ],
    [
      'a file of another type than the header',
      () => sendParts({ name: 'headerMedia', bytes: mp4(), type: 'video/mp4' }, { mediaType: 'video' }),
      'template.headerMediaType',
    ],
    [
      'a file and a headerMediaUrl',
      () =>
        sendParts(picture(), {
          template: JSON.stringify({
            id: templateId,
            variablesIndexed: ['1'],
            headerMediaUrl: 'https://example.com/a.jpg',
          }),
        }),
      'headerMedia',
    ],
    [
      'a file without a template',
      () => sendParts(picture()).filter(part => part.name !== 'template'),
      'template',
    ],
    ['a template that is not JSON', () => sendParts(picture(), { template: '{' }), 'template'],
    ['an unknown mediaType', () => sendParts(picture(), { mediaType: 'audio' }), 'mediaType'],
    ['no recipient', () => sendParts(picture()).filter(part => part.name !== 'to'), 'to'],
  ])('is not sent with %s, and the file is not kept', async (_, parts, path) => {
    const before = await mediaLeft(app)
    const answer = await send(parts())
    expect([answer.status, faultPaths(answer)[0]]).toEqual([400, path])
    expect(await mediaLeft(app)).toEqual(before)
  })

  it('is replayed for the same idempotency key and file, and conflicts for another file', async () => {
    const key = { 'idempotency-key': 'form-1' }
    const first = await send(sendParts(picture()), key)
    expect(first.status, first.text).toBe(200)
    await taken(messageIdOf(first))
    const before = await mediaLeft(app)
    const again = await send(sendParts(picture()), key)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const other = await send(sendParts(picture(jpeg(50_001))), key)
    expect([other.status, other.body['code']]).toEqual([409, 'IDEMPOTENCY_KEY_CONFLICT'])
    // The file of a repeated request is not kept.
    expect(await mediaLeft(app)).toEqual(before)
  })

  it('replays a rejection under its idempotency key', async () => {
    const key = { 'idempotency-key': 'form-2' }
    const parts = sendParts({ ...picture(), bytes: Buffer.from('no picture') } as FormPart)
    const first = await send(parts, key)
    const again = await send(parts, key)
    expect([first.status, faultPaths(first)]).toEqual([400, ['headerMedia']])
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
  })

  it('is replayed also if the account has no room left for the file of the repeat, or none at all', async () => {
    const batch = { to: '["+12025550170","+12025550171"]' }
    const repeats = [
      { headers: { 'idempotency-key': 'form-3' }, fields: {} },
      { headers: { 'idempotency-key': 'form-4' }, fields: batch },
    ]
    const large = (fields: Record<string, string>, bytes = 700_000) => sendParts(picture(jpeg(bytes)), fields)
    const firsts: Answer[] = []
    for (const { headers, fields } of repeats) firsts.push(await send(large(fields), headers))
    expect(firsts.map(({ status }) => status)).toEqual([200, 200])
    const before = await mediaLeft(app)
    const expectReplayed = async () => {
      for (const [index, { headers, fields }] of repeats.entries()) {
        const again = await send(large(fields), headers)
        expect([again.status, again.text]).toEqual([200, firsts[index]!.text])
        expect(again.headers.get('idempotency-replayed')).toBe('true')
        const other = await send(large(fields, 700_001), headers)
        expect([other.status, other.body['code']]).toEqual([409, 'IDEMPOTENCY_KEY_CONFLICT'])
      }
      const fresh = await send(large({}), { 'idempotency-key': 'form-5' })
      expect([fresh.status, fresh.body['code']]).toEqual([409, 'CONFLICT'])
    }
    await expectReplayed()
    expect(await mediaLeft(app)).toEqual(before)
    const filler = await fillUp()
    await expectReplayed()
    const path = `/api/v2/templates/media/${filler.id}`
    const deleted = await app.call(path, { method: 'DELETE', key: account.testKey })
    expect(deleted.status, deleted.text).toBe(200)
    const fresh = await send(sendParts(picture()), { 'idempotency-key': 'form-5' })
    expect(fresh.status, fresh.text).toBe(200)
  })

  it('is sent to a batch of recipients given as JSON', async () => {
    const answer = await send(sendParts(picture(), { to: '["+12025550170","+12025550171"]' }))
    expect([answer.status, answer.body['batch']]).toEqual([200, true])
  })
})
