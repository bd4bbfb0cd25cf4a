import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { categoryChange, event, signatureOf, templateChange } from '../../channels/whatsapp-cloud/calls.ts'
import { graphError, whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { png } from '../../support/files.ts'
import { type Gateway, startChatGateway } from '../../support/gateways.ts'
import { type PeerAct, startHttpPeer } from '../../support/http-peer.ts'
import { listen } from '../../support/loopback.ts'
import { uploadFile } from '../../support/media.ts'
import { createTemplateCalls, refusedAt, type TemplateCalls } from './support.ts'

/** The whole life of an official template behind WhatsApp's Cloud API, as it answers by its documentation. */

const ORDER = {
  name: 'order_confirmation',
  category: 'chatapp',
  subType: 'utility',
  language: 'en_US',
  body: 'Thank you, {{1}}! Order {{2}} is on its way.',
}

let app: TestApp
let account: TestAccount
let templates: TemplateCalls
let bound: Gateway
let other: Gateway
let platform: Gateway

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ balance: 100 })
  templates = createTemplateCalls(app, account)
  bound = await startBound()
  other = await startChatGateway(app, { account, priorityOrder: 10 })
  platform = await startChatGateway(app, { priorityOrder: 30 })
})
afterAll(async () => {
  await app.stop()
  for (const gateway of [bound, other, platform]) await gateway.close()
})

/** What WhatsApp lists when it is asked for its templates. */
let listed: { id: string; name: string; language: string; status: string }[] = []

/** A sender of the account whose templates can be asked for too. */
async function startBound(): Promise<Gateway> {
  let next: (nth: number) => PeerAct = () => json(500, {})
  const peer = await startHttpPeer(request => {
    if (request.method !== 'GET') return next(peer.requests.length)
    if (request.path.includes('/message_templates')) return json(200, { data: listed })
    const id = /\/(\d+)\?fields=name,language$/.exec(request.path)?.[1]
    const found = listed.find(each => each.id === id)
    return found ? json(200, found) : (graphError(400, 100, { error_subcode: 33 }) as PeerAct)
  })
  const made = await app.admin('POST', '/connections', {
    provider: 'whatsapp-cloud',
    name: 'Bound',
    accountId: account.id,
    channels: ['official_chatapp'],
    config: whatsAppCloudFixture.configFor(peer.url),
    priorityOrder: 20,
  })
  return {
    peer,
    connectionId: (made.body['data'] as { connection: { id: string } }).connection.id,
    act(act) {
      next = typeof act === 'function' ? act : () => act
    },
    close: async () => void (await peer.close()),
  }
}

const json = (status: number, body: unknown): PeerAct => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const submitted = json(200, { id: '572279198452421', status: 'PENDING', category: 'UTILITY' })
const posted = ({ peer }: Gateway) =>
  peer.requests
    .filter(({ method }) => method === 'POST')
    .map(({ path, body }) => [path, JSON.parse(String(body) || 'null')] as const)

/** WhatsApp tells of a template, signed with the app's secret. */
async function tell(to: Gateway, ...values: object[]): Promise<void> {
  await tellChanges(to, ...values.map(templateChange))
}

async function tellChanges(to: Gateway, ...changes: object[]): Promise<void> {
  const body = JSON.stringify(event(...changes))
  const answer = await app.during(
    app.call(`/webhooks/whatsapp-cloud/${to.connectionId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(body) },
      body,
    }),
  )
  expect(answer.status, answer.text).toBe(200)
}

describe('an official template on WhatsApp', () => {
  test('is submitted, approved by webhook, sent by over its own sender alone, paused, and deleted', async () => {
    bound.act(submitted)
    const made = await templates.made({ ...ORDER, officialSenderId: bound.connectionId })
    expect(made).toMatchObject({
      status: 'pending',
      officialSenderId: bound.connectionId,
      isPlatformNumber: false,
      providerTemplateId: '572279198452421',
    })
    expect(posted(bound).at(-1)).toMatchObject([
      expect.stringContaining('/message_templates'),
      { name: 'order_confirmation', language: 'en_US' },
    ])

    const use = { to: '+16505551234', template: { id: made.id, variablesIndexed: ['Ada', '#1815'] } }
    expect((await app.during(account.send(use, { live: true }))).status).toBe(400)
    await tell(bound, { message_template_id: 572279198452421 })
    expect(await templates.read(made.id)).toMatchObject({ status: 'approved', statusReason: null })

    bound.act(nth => whatsAppCloudFixture.taken(nth) as PeerAct)
    const answer = await app.during(account.send(use, { live: true }))
    expect(answer.body, answer.text).toMatchObject({
      status: 'sent',
      resolved: { channel: 'official_chatapp' },
    })
    const [, message] = posted(bound).at(-1)!
    expect(message).toMatchObject({
      to: expect.stringContaining('16505551234'),
      type: 'template',
      template: {
        name: 'order_confirmation',
        language: { code: 'en_US' },
        components: [{ type: 'body', parameters: [{ text: 'Ada' }, { text: '#1815' }] }],
      },
    })
    expect(posted(other)).toEqual([])

    // A refusal of this sender is no other's business either.
    bound.act(graphError(400, 131026) as PeerAct)
    const refused = await app.during(account.send(use, { live: true }))
    expect(refused.body).toMatchObject({ code: 'CHATAPP_NOT_REGISTERED' })
    expect(posted(other)).toEqual([])

    await tell(bound, { event: 'PAUSED', reason: 'NONE', message_template_id: 572279198452421 })
    expect((await templates.read(made.id)).status).toBe('disabled')
    expect((await app.during(account.send(use, { live: true }))).status).toBe(400)

    listed = [{ id: '572279198452421', name: 'order_confirmation', language: 'en_US', status: 'PAUSED' }]
    bound.act(graphError(500, 131000) as PeerAct)
    const stays = await app.during(templates.call('DELETE', `/${made.id}`))
    expect([stays.status, stays.body['code']], stays.text).toEqual([503, 'PROVIDER_UNAVAILABLE'])
    expect((await templates.read(made.id)).status).toBe('disabled')
    bound.act(json(200, { success: true }))
    expect((await app.during(templates.call('DELETE', `/${made.id}`))).status).toBe(200)
    expect(bound.peer.requests.at(-1)).toMatchObject({ method: 'DELETE' })
  })

  test('that WhatsApp turns into marketing goes out as marketing from then on', async () => {
    bound.act(submitted)
    const { id } = await templates.made({ ...ORDER, name: 'turned', officialSenderId: bound.connectionId })
    const named = { message_template_name: 'turned', message_template_id: 572279198452421 }
    await tell(bound, named)
    const use = { to: '+16505551234', template: { id, variablesIndexed: ['Ada', '#1815'] } }
    bound.act(nth => whatsAppCloudFixture.taken(nth) as PeerAct)
    const asUtility = await app.during(account.send({ ...use, messageType: 'utility' }, { live: true }))
    expect(asUtility.body, asUtility.text).toMatchObject({ status: 'sent' })

    await tellChanges(bound, categoryChange({ ...named, previous_category: 'UTILITY' }))
    expect(await templates.read(id)).toMatchObject({ status: 'approved', subType: 'marketing' })
    const still = await app.during(account.send({ ...use, messageType: 'utility' }, { live: true }))
    expect([still.status, still.body['error']]).toEqual([400, expect.stringContaining('type marketing')])
    const asMarketing = await app.during(account.send(use, { live: true }))
    const { messageId } = asMarketing.body['tracking'] as { messageId: string }
    expect((await account.message(messageId)).messageType).toBe('marketing')
  })

  test('that is approved and paused by one call of WhatsApp’s is paused', async () => {
    bound.act(submitted)
    const { id } = await templates.made({ ...ORDER, name: 'brief', officialSenderId: bound.connectionId })
    const steps = ['APPROVED', 'PAUSED', 'APPROVED', 'DISABLED'].map(said => ({
      event: said,
      message_template_name: 'brief',
      message_template_id: 572279198452421,
    }))
    await tell(bound, ...steps)
    expect((await templates.read(id)).status).toBe('disabled')
  })

  test('is decided also in words that no store holds as they are', async () => {
    bound.act(submitted)
    const { id } = await templates.made({ ...ORDER, name: 'worded', officialSenderId: bound.connectionId })
    const told = { message_template_name: 'worded', message_template_id: 572279198452421 }
    // Cut at its limit, it would end in half of the last letter.
    await tell(bound, { ...told, event: 'REJECTED', reason: `${'x'.repeat(499)}😀` })
    expect(await templates.read(id)).toMatchObject({
      status: 'rejected',
      statusReason: `${'x'.repeat(499)}�`,
    })

    bound.act(json(200, { id: '1003', status: 'REJECTED', rejected_reason: 'a\0b', category: 'UTILITY' }))
    const made = await templates.made({
      ...ORDER,
      name: 'worded_at_once',
      officialSenderId: bound.connectionId,
    })
    expect(made).toMatchObject({ status: 'rejected', statusReason: 'ab' })
  })

  test('made anew under its name hears nothing of what came of the one before', async () => {
    const body = { ...ORDER, name: 'anew', officialSenderId: bound.connectionId }
    const before = { message_template_name: 'anew', message_template_id: 1001 }
    bound.act(json(200, { id: '1001', status: 'PENDING', category: 'UTILITY' }))
    const first = await templates.made(body)
    await tell(bound, { ...before, event: 'REJECTED' })
    listed = []
    expect((await app.during(templates.call('DELETE', `/${first.id}`))).status).toBe(200)
    bound.act(json(200, { id: '1002', status: 'PENDING', category: 'UTILITY' }))
    const { id } = await templates.made(body)
    await tell(bound, { ...before, event: 'REJECTED' }, { ...before, event: 'DELETED' })
    expect((await templates.read(id)).status).toBe('pending')
    await tell(bound, { ...before, event: 'APPROVED', message_template_id: 1002 })
    expect((await templates.read(id)).status).toBe('approved')
  })

  test('is refused in the provider’s words, and nothing of it stays', async () => {
    bound.act(graphError(400, 100, { error_subcode: 2388023, error_user_msg: 'Not like this.' }) as PeerAct)
    const body = { ...ORDER, name: 'refused', officialSenderId: bound.connectionId }
    const answer = await templates.create(body)
    expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.body['error']).toContain('the provider refuses the template')
    expect((await templates.list('?status=pending')).map(({ name }) => name)).not.toContain('refused')
  })

  test('of WhatsApp out of order is 503, and made by the very same request later', async () => {
    const body = { ...ORDER, name: 'later', officialSenderId: bound.connectionId }
    bound.act(graphError(503, 131016) as PeerAct)
    const unavailable = { status: 503, code: 'PROVIDER_UNAVAILABLE' }
    const { body: said } = await refusedAt(templates, body, [], unavailable)
    expect(said['error']).toMatch(/^The provider is unavailable: WhatsApp [^.]+\. Nothing was changed\.$/)
    bound.act(submitted)
    expect((await templates.made(body)).status).toBe('pending')
  })

  test('on the platform’s number keeps accounts apart, and events follow the right one', async () => {
    platform.act(submitted)
    const second = createTemplateCalls(app, await app.createAccount())
    const mine = await templates.made({ ...ORDER, name: 'shared', officialSenderId: 'platform' })
    const theirs = await second.made({ ...ORDER, name: 'shared' })
    expect([mine.name, theirs.name, theirs.officialSenderId]).toEqual(['shared', 'shared', 'platform'])
    const names = posted(platform).map(([, body]) => body.name as string)
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name).toMatch(/^shared_[0-9a-z]{10}$/)
    await tell(platform, { message_template_name: names[1], message_template_id: 572279198452421 })
    expect((await second.read(theirs.id)).status).toBe('approved')
    expect((await templates.read(mine.id)).status).toBe('pending')
    expect(await templates.list('?status=pending&officialSenderId=platform')).toMatchObject([{ id: mine.id }])
  })

  test('of a test key is the sandbox’s', async () => {
    const calls = createTemplateCalls(app, account, account.testKey)
    const requests = bound.peer.requests.length
    const made = await calls.made({ ...ORDER, name: 'tried', officialSenderId: bound.connectionId })
    expect((await calls.decided(made.id)).status).toBe('approved')
    expect(bound.peer.requests).toHaveLength(requests)
    const use = { to: '+16505551234', template: { id: made.id, variablesIndexed: ['Ada', '1'] } }
    expect((await app.during(account.send(use))).status).toBe(200)
    const live = await app.during(account.send(use, { live: true }))
    expect(live.body['error']).toContain('approved by the sandbox only')
  })

  test('of a connection that is off stays until that is on, or gone: its provider cannot be asked', async () => {
    const off = await startBound()
    off.act(submitted)
    const made = await templates.made({ ...ORDER, name: 'off', officialSenderId: off.connectionId })
    const connection = `/connections/${off.connectionId}`
    await app.admin('PATCH', connection, { enabled: false })
    expect(await app.during(templates.call('DELETE', `/${made.id}`))).toMatchObject({
      status: 503,
      body: { code: 'PROVIDER_UNAVAILABLE' },
    })
    expect(await app.during(templates.call('GET', `/${made.id}`))).toMatchObject({ status: 200 })
    await app.admin('DELETE', connection)
    expect(await app.during(templates.call('DELETE', `/${made.id}`))).toMatchObject({ status: 200 })
    expect(off.peer.requests.some(({ method }) => method === 'DELETE')).toBe(false)
    await off.close()
  })

  test('that is live is no test key’s to delete, which reaches no provider', async () => {
    bound.act(submitted)
    const body = { ...ORDER, name: 'kept', officialSenderId: bound.connectionId }
    const { id } = await templates.made(body)
    listed = [{ id: '572279198452421', name: 'kept', language: 'en_US', status: 'PENDING' }]
    const requests = bound.peer.requests.length
    const refused = await app.during(
      createTemplateCalls(app, account, account.testKey).call('DELETE', `/${id}`),
    )
    expect([refused.status, refused.body['code']], refused.text).toEqual([403, 'FORBIDDEN'])
    expect(bound.peer.requests).toHaveLength(requests)
    expect((await templates.read(id)).status).toBe('pending')
    bound.act(json(200, { success: true }))
    expect((await app.during(templates.call('DELETE', `/${id}`))).status).toBe(200)
  })

  test('of the sandbox is a test key’s to delete, and a live one’s', async () => {
    const tried = createTemplateCalls(app, account, account.testKey)
    for (const calls of [tried, templates]) {
      const { id } = await tried.made({ ...ORDER, name: 'tried_and_gone' })
      expect((await app.during(calls.call('DELETE', `/${id}`))).status).toBe(200)
    }
  })

  test('that stood there before is bound to by its id, whatever it is called, and sent by', async () => {
    listed = [{ id: '4711', name: 'spring_2026', language: 'en_US', status: 'APPROVED' }]
    const { body: _, ...named } = ORDER
    const binding = {
      ...named,
      name: 'spring',
      officialSenderId: bound.connectionId,
      creationMode: 'manual_external_id',
      providerTemplateId: '4711',
      manualVariableCount: 1,
    }
    const posts = posted(bound).length
    const made = await templates.made(binding)
    expect(made).toMatchObject({
      status: 'approved',
      providerTemplateId: '4711',
      indexedPlaceholders: ['{{1}}'],
    })
    expect(posted(bound)).toHaveLength(posts)

    bound.act(nth => whatsAppCloudFixture.taken(nth) as PeerAct)
    const use = { to: '+16505551299', template: { id: made.id, variablesIndexed: ['Ada'] } }
    expect((await app.during(account.send(use, { live: true }))).status).toBe(200)
    expect(posted(bound).at(-1)![1]).toMatchObject({ template: { name: 'spring_2026' } })

    // It was there before us, and stays.
    const requests = bound.peer.requests.length
    expect((await app.during(templates.call('DELETE', `/${made.id}`))).status).toBe(200)
    expect(bound.peer.requests).toHaveLength(requests)
  })

  test('that does not stand there, or in another language, is no template to bind to', async () => {
    listed = [{ id: '4711', name: 'spring_2026', language: 'de', status: 'APPROVED' }]
    const binding = {
      ...ORDER,
      name: 'bound',
      officialSenderId: bound.connectionId,
      creationMode: 'manual_external_id',
    }
    await refusedAt(templates, { ...binding, providerTemplateId: '4712' }, ['providerTemplateId'])
    await refusedAt(templates, { ...binding, providerTemplateId: 'spring_2026' }, ['providerTemplateId'])
    await refusedAt(templates, { ...binding, providerTemplateId: '4711' }, ['language'])
  })
})

test('the file of a header stays while WhatsApp decides whether it takes the template', async () => {
  const asset = await uploadFile(app, account.testKey, png())
  const removals: number[] = []
  const graph = createServer(async (request, response) => {
    request.resume()
    const { url = '' } = request
    if (url.includes('/message_templates')) {
      const removed = await app.call(`/api/v2/templates/media/${asset.id}`, {
        method: 'DELETE',
        key: account.testKey,
      })
      removals.push(removed.status)
    }
    const said = url.includes('/uploads?')
      ? { id: 'upload:1' }
      : url.includes('/upload:')
        ? { h: '4:1' }
        : { id: '578', status: 'PENDING', category: 'UTILITY' }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
  const port = await listen(graph)
  try {
    const made = await app.admin('POST', '/connections', {
      provider: 'whatsapp-cloud',
      name: 'Slow to decide',
      accountId: account.id,
      channels: ['official_chatapp'],
      config: whatsAppCloudFixture.configFor(`http://127.0.0.1:${port}`),
      priorityOrder: 40,
    })
    const { id } = (made.body['data'] as { connection: { id: string } }).connection
    const answer = await app.during(
      templates.call('POST', '', {
        ...ORDER,
        name: 'with_a_picture',
        headerAssetId: asset.id,
        headerType: 'image',
        officialSenderId: id,
      }),
    )
    expect([answer.status, removals], answer.text).toEqual([201, [409]])
  } finally {
    graph.close()
    graph.closeAllConnections()
  }
})
