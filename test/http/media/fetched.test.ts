import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { jpeg, sha256 } from '../../support/files.ts'
import { mediaLeft, uploadFile } from '../../support/media.ts'

describe('headerMediaUrl of a template', () => {
  let app: TestApp
  let account: TestAccount
  let far: Server
  let origin: string
  const bytes = jpeg(200_000)
  /** The path of each request so far. */
  const fetched: string[] = []
  /** Responses of `/slow.jpg`, which send only a part of the file by themselves. */
  const slow: ServerResponse[] = []

  beforeAll(async () => {
    far = createServer((request, response) => {
      fetched.push(request.url!)
      if (request.url === '/slow.jpg') {
        slow.push(response.writeHead(200, { 'content-type': 'image/jpeg' }))
        response.write(bytes.subarray(0, 100_000))
        return far.emit('slow')
      }
      if (request.url === '/gone.jpg') return response.writeHead(404).end()
      if (request.url === '/cut.jpg') {
        response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': bytes.length })
        return response.write(bytes.subarray(0, 100_000), () => response.destroy())
      }
      const type = request.url === '/wrong.jpg' ? 'image/png' : 'image/jpeg'
      return response.writeHead(200, { 'content-type': type }).end(bytes)
    })
    far.listen(0, '127.0.0.1')
    await once(far, 'listening')
    origin = `http://127.0.0.1:${(far.address() as AddressInfo).port}`
    app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: new URL(origin).host } })
    account = await app.createAccount()
  })
  afterAll(async () => {
    await app.stop()
    far.close()
    far.closeAllConnections()
  })

  const create = (headerMediaUrl: string, more: object = {}, key = account.testKey) =>
    app.call('/api/v2/templates', {
      method: 'POST',
      key,
      body: {
        name: 'order_photo',
        category: 'chatapp',
        subType: 'utility',
        language: 'en',
        provider: 'official_provider',
        body: 'Your order left us.',
        headerType: 'image',
        headerMediaUrl,
        ...more,
      },
    })

  it.each([
    ['that returns 404', () => `${origin}/gone.jpg`],
    ['whose response is cut off', () => `${origin}/cut.jpg`],
    ['whose content does not match its content type', () => `${origin}/wrong.jpg`],
    ['in a private network', () => 'https://10.0.0.1/a.jpg'],
    ['at which no server listens', () => 'https://127.0.0.1:1/a.jpg'],
  ])('returns 400 and stores nothing for a URL %s', async (_, url) => {
    const answer = await create(url())
    expect([answer.status, faultPaths(answer)], answer.text).toEqual([400, ['headerMediaUrl']])
    expect(await mediaLeft(app)).toEqual({ rows: [], files: [] })
  })

  it.each([
    [503, 'PROVIDER_UNAVAILABLE', { name: 'a_timeout_here' }],
    [400, 'VALIDATION_ERROR', { name: 'Not a name' }],
    [400, 'VALIDATION_ERROR', { headerType: 'video' }],
    [400, 'VALIDATION_ERROR', { officialSenderId: 'nobody' }],
  ])('leaves no file behind when the template is rejected: %i %s', async (status, code, more) => {
    const answer = await create(`${origin}/photo.jpg`, more)
    expect([answer.status, answer.body['code']], answer.text).toEqual([status, code])
    expect(await mediaLeft(app)).toEqual({ rows: [], files: [] })
  })

  it('is fetched once, and the file is stored', async () => {
    fetched.length = 0
    const answer = await create(`${origin}/photo.jpg`)
    expect(answer.status, answer.text).toBe(201)
    const { template } = answer.body['data'] as { template: { headerAssetId: string } }
    expect(await account.read(`/api/v2/templates/media/${template.headerAssetId}`)).toMatchObject({
      mediaType: 'image',
      fileName: 'photo.jpg',
      size: bytes.length,
      sha256: sha256(bytes),
    })
    expect(fetched).toEqual(['/photo.jpg'])
  })

  it('is refused while eight others of the account are being fetched', async () => {
    const letters = [...'abcdefgh']
    const begun = letters.map(letter => create(`${origin}/slow.jpg`, { name: `slow_${letter}` }))
    while (slow.length < letters.length) await once(far, 'slow')
    fetched.length = 0
    const ninth = await create(`${origin}/photo.jpg`, { name: 'ninth' })
    expect([ninth.status, ninth.body['code']], ninth.text).toEqual([429, 'RATE_LIMITED'])
    expect(ninth.headers.get('retry-after')).toBe('1')
    expect(fetched).toEqual([])
    const other = await app.createAccount()
    const elsewhere = await create(`${origin}/photo.jpg`, {}, other.testKey)
    expect(elsewhere.status, elsewhere.text).toBe(201)
    for (const response of slow) response.end(bytes.subarray(100_000))
    for (const answer of await Promise.all(begun)) expect(answer.status, answer.text).toBe(201)
    const later = await create(`${origin}/photo.jpg`, { name: 'ninth' })
    expect(later.status, later.text).toBe(201)
  })
})

it('a download for a template is cut off at once when the account has no storage left', async () => {
  const far = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/jpeg' }).write(jpeg(10_000))
    response.once('close', () => far.emit('let go'))
  })
  far.listen(0, '127.0.0.1')
  await once(far, 'listening')
  const { port } = far.address() as AddressInfo
  const env = { POSTHORN_ALLOW_PRIVATE_HOSTS: `127.0.0.1:${port}`, POSTHORN_MEDIA_ACCOUNT_MB: '1' }
  const app = await startTestApp({ env })
  try {
    const { testKey: key } = await app.createAccount()
    await uploadFile(app, key, jpeg(1_048_576).subarray(0, 1_048_576))
    const letGo = once(far, 'let go')
    const answer = await app.call('/api/v2/templates', {
      method: 'POST',
      key,
      body: {
        name: 'order_photo',
        category: 'chatapp',
        subType: 'utility',
        language: 'en',
        provider: 'official_provider',
        body: 'Your order left us.',
        headerType: 'image',
        headerMediaUrl: `http://127.0.0.1:${port}/photo.jpg`,
      },
    })
    expect([answer.status, answer.body['code']], answer.text).toEqual([409, 'CONFLICT'])
    await letGo
  } finally {
    await app.stop()
    far.close()
    far.closeAllConnections()
  }
})
