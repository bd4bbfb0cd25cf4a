import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buildTemplateSendPayload, WhatsAppClient } from '@kapso/whatsapp-cloud-api'
import { afterEach, describe, expect, test } from 'vitest'
import { createFakeClock } from '../../support/fake-clock.ts'
import type { PeerAct, PeerRequest } from '../../support/http-peer.ts'
import { never, settled } from '../conformance.ts'
import {
  ACCESS_TOKEN,
  brokenFile,
  file,
  graphError,
  PHONE_NUMBER_ID,
  taken,
  template,
} from '../whatsapp-cloud.exchange.ts'
import { event, failed, messagesChange, signed, status } from './calls.ts'
import { json, openSession, type Session, toAda } from './link.ts'

const MEDIA = `/v25.0/${PHONE_NUMBER_ID}/media`
const open: Session[] = []
afterEach(async () => {
  for (const session of open.splice(0)) await session.close()
})
async function session(
  act: (request: PeerRequest, nth: number) => PeerAct,
  options?: Parameters<typeof openSession>[1],
): Promise<Session> {
  const opened = await openSession(act, options)
  open.push(opened)
  return opened
}

/** The body that an independent client posts. */
async function theirs(send: (client: WhatsAppClient) => Promise<unknown>): Promise<Record<string, unknown>> {
  let posted: Record<string, unknown> = {}
  const client = new WhatsAppClient({
    accessToken: ACCESS_TOKEN,
    fetch: async (_url, init) => {
      posted = JSON.parse(String(init?.body))
      return new Response(taken('wamid.A').body, { headers: { 'Content-Type': 'application/json' } })
    },
  })
  await send(client)
  return posted
}

describe('the request equals that of an independent client', () => {
  const NUMBER = { phoneNumberId: PHONE_NUMBER_ID, to: '447700900123' }

  async function ours(message: Parameters<typeof toAda>[0]): Promise<Record<string, unknown>> {
    const { link, peer } = await session(() => taken('wamid.A'))
    await link.send(toAda(message), never())
    const { biz_opaque_callback_data: _, ...body } = JSON.parse(peer.requests[0]!.body)
    return body
  }

  test('for a text', async () => {
    const body = await theirs(client =>
      client.messages.sendText({ ...NUMBER, body: 'Hello', previewUrl: false }),
    )
    expect(await ours({ text: 'Hello' })).toEqual(body)
  })

  test('for a picture', async () => {
    const image = { link: 'https://cdn.example.org/ship.png', caption: 'Our ship' }
    const body = await theirs(client => client.messages.sendImage({ ...NUMBER, image }))
    expect(await ours({ text: 'Our ship', files: [file({ publicUrl: image.link })] })).toEqual(body)
  })

  test('for a template', async () => {
    const payload = buildTemplateSendPayload({
      name: 'order_confirmation',
      language: 'en_US',
      header: { type: 'image', image: { link: 'https://cdn.example.org/ship.png' } },
      body: [
        { type: 'text', text: 'Ada' },
        { type: 'text', text: '#1815' },
      ],
      buttons: [
        { type: 'button', subType: 'url', index: '0', parameters: [{ type: 'text', text: '1815' }] },
        {
          type: 'button',
          subType: 'copy_code',
          index: '1',
          parameters: [{ type: 'coupon_code', coupon_code: 'SAVE20' }],
        },
      ],
    })
    const body = await theirs(client =>
      client.messages.sendTemplate({ ...NUMBER, template: payload as never }),
    )
    expect(
      await ours({
        template: template({
          header: { type: 'image', file: file({ publicUrl: 'https://cdn.example.org/ship.png' }) },
          buttons: [
            { index: 0, subType: 'url', text: '1815' },
            { index: 1, subType: 'copy_code', text: 'SAVE20' },
          ],
        }),
      }),
    ).toEqual(body)
  })
})

describe('a file without a public URL', () => {
  const uploading = (request: PeerRequest) =>
    request.path === MEDIA ? json({ id: '1166846181421424' }) : taken('wamid.A')

  test('is uploaded as a form, then sent by its id', async () => {
    const { link, peer } = await session(uploading)
    const picture = file({ fileName: 'a "b"\r\n.png' })
    expect(await link.send(toAda({ text: 'Our ship', files: [picture] }), never())).toMatchObject({
      kind: 'accepted',
    })
    const [upload, submit] = peer.requests
    const form = await new Response(upload!.body, {
      headers: { 'Content-Type': upload!.headers['content-type']! },
    }).formData()
    expect(Object.fromEntries([...form].filter(([name]) => name !== 'file'))).toEqual({
      messaging_product: 'whatsapp',
      type: 'image/png',
    })
    const sent = form.get('file') as File
    expect([sent.type, await sent.text()]).toEqual(['image/png', 'not really a picture'])
    expect(upload!.headers['transfer-encoding']).toBeUndefined()
    expect(JSON.parse(submit!.body)).toMatchObject({
      type: 'image',
      image: { id: '1166846181421424', caption: 'Our ship' },
    })
  })

  test('cannot inject a form field with the multipart boundary of another connection', async () => {
    const boundaryOf = ({ headers }: PeerRequest) => /boundary=(.*)$/.exec(headers['content-type']!)![1]!
    const known = await session(uploading, { config: { accessToken: 'their-own' } })
    await known.link.send(toAda({ files: [file()] }), never())
    const forged = `x\r\n--${boundaryOf(known.peer.requests[0]!)}\r\nContent-Disposition: form-data; name="type"\r\n\r\ntext/html\r\n`
    const bytes = async () => Readable.from([Buffer.from(forged)])
    const { link, peer } = await session(uploading)
    await link.send(toAda({ files: [file({ open: bytes, sizeBytes: forged.length })] }), never())
    const [upload] = peer.requests
    const form = await new Response(upload!.body, {
      headers: { 'Content-Type': upload!.headers['content-type']! },
    }).formData()
    expect(form.getAll('type')).toEqual(['image/png'])
    expect(await (form.get('file') as File).text()).toBe(forged)
  })

  test('is uploaded for the header of a template too', async () => {
    const { link, peer } = await session(uploading)
    const header = { type: 'video', file: file({ type: 'video', mimetype: 'video/mp4' }) } as const
    await link.send(toAda({ template: template({ header }) }), never())
    expect(JSON.parse(peer.requests.at(-1)!.body).template.components[0]).toEqual({
      type: 'header',
      parameters: [{ type: 'video', video: { id: '1166846181421424' } }],
    })
  })

  test('that is unavailable ends in rejected or retry, and no request is made', async () => {
    const { link, peer } = await session(uploading)
    expect(await link.send(toAda({ files: [brokenFile(false)] }), never())).toMatchObject({
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
    })
    expect(await link.send(toAda({ files: [brokenFile(true)] }), never())).toMatchObject({ kind: 'retry' })
    expect(peer.requests).toEqual([])
  })

  test.each([
    ['shorter', 30],
    ['longer', 10],
  ])('that is %s than its stated size ends in retry, and is not uploaded', async (_, sizeBytes) => {
    const { link, peer } = await session(uploading)
    expect(await link.send(toAda({ files: [file({ sizeBytes })] }), never())).toMatchObject({ kind: 'retry' })
    expect(peer.requests).toEqual([])
  })

  test.each<[string, PeerAct, object]>([
    ['rejects it', graphError(400, 100), { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: '100' }],
    ['returns 503', graphError(503, 131_016), { kind: 'retry' }],
    ['throttles', graphError(400, 80_007), { kind: 'throttled', afterMs: 60_000, providerCode: '80007' }],
    ['returns 429 without a code', { status: 429, body: 'slow' }, { kind: 'throttled', afterMs: 1_000 }],
    ['resets the connection', 'reset', { kind: 'retry' }],
    ['returns no id', json({}), { kind: 'retry' }],
  ])('is not sent when, at the upload, Graph %s', async (_, act, outcome) => {
    const { link, peer } = await session(() => act)
    expect(await link.send(toAda({ files: [file()] }), never())).toMatchObject(outcome)
    expect(new Set(peer.requests.map(request => request.path))).toEqual(new Set([MEDIA]))
  })

  test.each<[string, PeerAct, 'up' | 'down']>([
    ['refuses the access token', graphError(401, 190), 'down'],
    ['does not know the path, by a code that is not documented', graphError(404, 99_999), 'down'],
    ['is unavailable', graphError(503, 131_016), 'up'],
  ])('reports the link as the message itself would where, at the upload, Graph %s', async (_, act, state) => {
    const { link, io } = await session(() => act)
    const sent = await link.send(toAda({ files: [file()] }), never())
    expect(sent).toMatchObject({ kind: 'retry' })
    const reportsOfFile = io.reports.splice(0)
    expect(reportsOfFile.at(-1)).toMatchObject({ state })
    const plain = await session(() => act)
    await plain.link.send(toAda(), never())
    expect(reportsOfFile).toEqual(plain.io.reports)
  })

  test('waits at least as long as the refusal of the upload asks for', async () => {
    const { body } = graphError(503, 131_016) as { body: string }
    const { link } = await session(() => ({ status: 503, headers: { 'Retry-After': '120' }, body }))
    const sent = await link.send(toAda({ files: [file()] }), never())
    expect(sent).toMatchObject({ kind: 'retry', atLeastMs: 120_000, providerCode: '131016' })
  })

  test('reports a link as down where the upload is not connected', async () => {
    const { link, peer, io } = await session(() => 'silent')
    await peer.close()
    expect(await link.send(toAda({ files: [file()] }), never())).toMatchObject({ kind: 'retry' })
    expect(io.reports.at(-1)).toEqual({ state: 'down', detail: 'not reached: ECONNREFUSED' })
  })

  test('of 64 MB is streamed, with a small part of it in memory', async () => {
    const CHUNK = Buffer.alloc(256 * 1024, 'x')
    const CHUNKS = 256
    let received = 0
    const server = createServer((request, response) => {
      request.on('data', (bytes: Buffer) => (received += bytes.length))
      const answer = request.url === MEDIA ? json({ id: '1166846181421424' }) : taken('wamid.A')
      request.on('end', () => response.end((answer as { body: string }).body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { link } = await session(() => 'silent', { config: { baseUrl } })
    let given = 0
    let mostAhead = 0
    const big = file({
      type: 'document',
      sizeBytes: CHUNK.length * CHUNKS,
      open: async () =>
        Readable.from(
          (async function* () {
            for (; given < CHUNKS; given++) {
              mostAhead = Math.max(mostAhead, given * CHUNK.length - received)
              yield CHUNK
            }
          })(),
        ),
    })
    expect(await link.send(toAda({ files: [big] }), never())).toMatchObject({ kind: 'accepted' })
    server.close()
    expect(received).toBeGreaterThan(CHUNK.length * CHUNKS)
    // About what the buffers of both sockets hold, which is far less than the file.
    expect(mostAhead).toBeLessThan(24 * 1024 * 1024)
  })
})

describe('the rate limit of one recipient', () => {
  test('throttles the 46th message of a burst without a request, but not another recipient', async () => {
    const clock = createFakeClock()
    const { link, peer } = await session((_, nth) => taken(`wamid.${nth}`), { io: { clock } })
    const outcomes = []
    for (let nth = 1; nth <= 46; nth++) outcomes.push(await link.send(toAda({}, nth), never()))
    expect(outcomes.slice(0, 45).every(each => each.kind === 'accepted')).toBe(true)
    expect(outcomes[45]).toMatchObject({ kind: 'throttled', scope: 'message', afterMs: 6_000 })
    expect(peer.requests).toHaveLength(45)
    expect(await link.send(toAda({ to: '+447700900124' }, 47), never())).toMatchObject({ kind: 'accepted' })
    await clock.advance(6_000)
    expect(await link.send(toAda({}, 46), never())).toMatchObject({ kind: 'accepted' })
  })

  test('throttles the recipient for longer after each error 131056', async () => {
    const clock = createFakeClock()
    const { link } = await session(() => graphError(400, 131_056), { io: { clock } })
    expect(await link.send(toAda(), never())).toMatchObject({ afterMs: 1_000 })
    expect(await link.send(toAda(), never())).toMatchObject({ kind: 'throttled', afterMs: 1_000 })
    await clock.advance(1_000)
    expect(await link.send(toAda(), never())).toMatchObject({ scope: 'message', afterMs: 4_000 })
  })
})

test('a refusal because the template is paused emits the state of the template once', async () => {
  const { link, io } = await session(() => graphError(400, 132_015))
  for (let nth = 1; nth <= 3; nth++) await link.send(toAda({ template: template() }, nth), never())
  expect(io.inbound).toEqual([
    {
      kind: 'template',
      eventId: 'refused:msg_00000000000000000000000001.1',
      state: {
        providerTemplateId: '594425479261596',
        name: 'order_confirmation',
        language: 'en_US',
        status: 'disabled',
        reason: 'The template is paused because of its low quality.',
      },
    },
  ])
})

test('a template that is paused again is reported although the clock was set back meanwhile', async () => {
  const clock = createFakeClock()
  const { link, io } = await session(() => graphError(400, 132_015), { io: { clock } })
  await link.send(toAda({ template: template() }), never())
  clock.jump(-3 * 3_600_000)
  await clock.advance(60_000)
  await link.send(toAda({ template: template() }, 2), never())
  expect(io.inbound).toHaveLength(2)
})

test('a failed status because the template is paused returns the state of the template', async () => {
  const { link, io } = await session(() => taken('wamid.A'))
  await link.send(toAda({ template: template() }), never())
  const tell = (code: number, attempt = 'msg_00000000000000000000000001.1') => {
    const statuses = [failed(code, { biz_opaque_callback_data: attempt })]
    return link.receive!(signed(event(messagesChange({ statuses }))))
  }
  expect(await tell(131_026)).toMatchObject({ inbound: [{ kind: 'receipt' }] })
  expect(await tell(132_015, 'msg_of_another_node.1')).toMatchObject({ inbound: [{ kind: 'receipt' }] })
  expect(await tell(132_015)).toMatchObject({
    inbound: [
      { kind: 'receipt', reject: 'MESSAGE_REJECTED' },
      { kind: 'template', state: { name: 'order_confirmation', language: 'en_US', status: 'disabled' } },
    ],
  })
  expect(io.inbound).toEqual([])
})

test('a status contains the attempt id of a send that got no response', async () => {
  const { link, peer } = await session(() => 'silent')
  const stop = new AbortController()
  const outcome = link.send(toAda(), stop.signal)
  await settled(peer.submitted(1), 'the submit')
  stop.abort()
  expect(await outcome).toMatchObject({ kind: 'unknown' })
  const data = JSON.parse(peer.requests[0]!.body).biz_opaque_callback_data
  const statuses = [status('sent', { biz_opaque_callback_data: data })]
  expect(await link.receive!(signed(event(messagesChange({ statuses }))))).toMatchObject({
    inbound: [{ attemptId: 'msg_00000000000000000000000001.1', providerId: status('').id, status: 'sent' }],
  })
})

describe('the identity of the number', () => {
  test('is read from Graph', async () => {
    const { link, peer } = await session(() =>
      json({
        id: PHONE_NUMBER_ID,
        display_phone_number: '+1 555-078-3881',
        verified_name: 'Jasper’s Market',
        quality_rating: 'GREEN',
        status: 'CONNECTED',
        whatsapp_business_manager_messaging_limit: 'TIER_10K',
      }),
    )
    expect(await link.identity!(never())).toEqual({
      phoneNumber: '+15550783881',
      displayName: 'Jasper’s Market',
      qualityRating: 'GREEN',
      messagingLimit: 'TIER_10K',
      status: 'CONNECTED',
    })
    expect(peer.requests[0]!.path).toBe(
      `/v25.0/${PHONE_NUMBER_ID}?fields=display_phone_number,verified_name,quality_rating,status,whatsapp_business_manager_messaging_limit`,
    )
  })

  test('has the messaging limit under another name in an older version of Graph, and none in the oldest', async () => {
    const older = await session(request =>
      request.path.includes('manager')
        ? graphError(400, 100)
        : json({ verified_name: 'A', messaging_limit_tier: 'TIER_1K' }),
    )
    expect(await older.link.identity!(never())).toMatchObject({
      phoneNumber: null,
      messagingLimit: 'TIER_1K',
    })
    const oldest = await session(request =>
      request.path.includes('limit') ? graphError(400, 100) : json({ verified_name: 'A' }),
    )
    expect(await oldest.link.identity!(never())).toMatchObject({ displayName: 'A', messagingLimit: null })
  })

  test('cannot be read with an expired access token', async () => {
    const { link } = await session(() => graphError(401, 190))
    await expect(link.identity!(never())).rejects.toThrow(
      'WhatsApp did not process the request: The access token has expired',
    )
  })
})
