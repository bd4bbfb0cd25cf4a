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

/** The life cycle of an official template on WhatsApp's Cloud API, with responses as documented. */

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

/** The templates that the fake WhatsApp API lists. */
let listed: { id: string; name: string; language: string; status: string }[] = []

/** A sender of the account whose fake API can list templates too. */
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

/** Posts WhatsApp webhooks about a template, signed with the app's secret. */
async function postTemplateChanges(to: Gateway, ...values: object[]): Promise<void> {
  await postChanges(to, ...values.map(templateChange))
}

async function postChanges(to: Gateway, ...changes: object[]): Promise<void> {
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
  test('is submitted, approved by webhook, sent over its own sender only, paused, and deleted', async () => {
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
    await postTemplateChanges(bound, { message_template_id: 572279198452421 })
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

    // A rejection at this sender does not fail over to another one.
    bound.act(graphError(400, 131026) as PeerAct)
    const refused = await app.during(account.send(use, { live: true }))
    expect(refused.body).toMatchObject({ code: 'CHATAPP_NOT_REGISTERED' })
    expect(posted(other)).toEqual([])

    await postTemplateChanges(bound, {
      event: 'PAUSED',
      reason: 'NONE',
      message_template_id: 572279198452421,
    })
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

  test('that WhatsApp recategorizes as marketing is sent as marketing from then on', async () => {
    bound.act(submitted)
    const { id } = await templates.made({ ...ORDER, name: 'turned', officialSenderId: bound.connectionId })
    const named = { message_template_name: 'turned', message_template_id: 572279198452421 }
    await postTemplateChanges(bound, named)
    const use = { to: '+16505551234', template: { id, variablesIndexed: ['Ada', '#1815'] } }
    bound.act(nth => whatsAppCloudFixture.taken(nth) as PeerAct)
    const asUtility = await app.during(account.send({ ...use, messageType: 'utility' }, { live: true }))
    expect(asUtility.body, asUtility.text).toMatchObject({ status: 'sent' })

    await postChanges(bound, categoryChange({ ...named, previous_category: 'UTILITY' }))
    expect(await templates.read(id)).toMatchObject({ status: 'approved', subType: 'marketing' })
    const still = await app.during(account.send({ ...use, messageType: 'utility' }, { live: true }))
    expect([still.status, still.body['error']]).toEqual([400, expect.stringContaining('type marketing')])
    const asMarketing = await app.during(account.send(use, { live: true }))
    const { messageId } = asMarketing.body['tracking'] as { messageId: string }
    expect((await account.message(messageId)).messageType).toBe('marketing')
  })

  test('takes the last status when one webhook call contains several', async () => {
    bound.act(submitted)
    const { id } = await templates.made({ ...ORDER, name: 'brief', officialSenderId: bound.connectionId })
    const steps = ['APPROVED', 'PAUSED', 'APPROVED', 'DISABLED'].map(said => ({
      event: said,
      message_template_name: 'brief',
      message_template_id: 572279198452421,
    }))
    await postTemplateChanges(bound, ...steps)
    expect((await templates.read(id)).status).toBe('disabled')
  })

  test('stores a rejection reason with text that the database cannot hold as it is', async () => {
    bound.act(submitted)
    const { id } = await templates.made({ ...ORDER, name: 'worded', officialSenderId: bound.connectionId })
    const told = { message_template_name: 'worded', message_template_id: 572279198452421 }
    // Cut at the limit, it would end in half a surrogate pair.
    await postTemplateChanges(bound, { ...told, event: 'REJECTED', reason: `${'x'.repeat(499)}😀` })
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

  test('created again under its name ignores webhooks about the deleted one', async () => {
    const body = { ...ORDER, name: 'anew', officialSenderId: bound.connectionId }
    const before = { message_template_name: 'anew', message_template_id: 1001 }
    bound.act(json(200, { id: '1001', status: 'PENDING', category: 'UTILITY' }))
    const first = await templates.made(body)
    await postTemplateChanges(bound, { ...before, event: 'REJECTED' })
    listed = []
    expect((await app.during(templates.call('DELETE', `/${first.id}`))).status).toBe(200)
    bound.act(json(200, { id: '1002', status: 'PENDING', category: 'UTILITY' }))
    const { id } = await templates.made(body)
    await postTemplateChanges(bound, { ...before, event: 'REJECTED' }, { ...before, event: 'DELETED' })
    expect((await templates.read(id)).status).toBe('pending')
    await postTemplateChanges(bound, { ...before, event: 'APPROVED', message_template_id: 1002 })
    expect((await templates.read(id)).status).toBe('approved')
  })

  test('is not stored when the provider rejects its creation', async () => {
    bound.act(graphError(400, 100, { error_subcode: 2388023, error_user_msg: 'Not like this.' }) as PeerAct)
    const body = { ...ORDER, name: 'refused', officialSenderId: bound.connectionId }
    const answer = await templates.create(body)
    expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.body['error']).toContain('the provider refuses the template')
    expect((await templates.list('?status=pending')).map(({ name }) => name)).not.toContain('refused')
  })

  test('is a 503 while WhatsApp is unavailable, and can be created later by the same request', async () => {
    const body = { ...ORDER, name: 'later', officialSenderId: bound.connectionId }
    bound.act(graphError(503, 131016) as PeerAct)
    const unavailable = { status: 503, code: 'PROVIDER_UNAVAILABLE' }
    const { body: said } = await refusedAt(templates, body, [], unavailable)
    expect(said['error']).toMatch(/^The provider is unavailable: WhatsApp [^.]+\. Nothing was changed\.$/)
    bound.act(submitted)
    expect((await templates.made(body)).status).toBe('pending')
  })

  test('on the platform’s number has a unique name for each account, and webhooks reach the right one', async () => {
    platform.act(submitted)
    const second = createTemplateCalls(app, await app.createAccount())
    const mine = await templates.made({ ...ORDER, name: 'shared', officialSenderId: 'platform' })
    const theirs = await second.made({ ...ORDER, name: 'shared' })
    expect([mine.name, theirs.name, theirs.officialSenderId]).toEqual(['shared', 'shared', 'platform'])
    const names = posted(platform).map(([, body]) => body.name as string)
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name).toMatch(/^shared_[0-9a-z]{10}$/)
    await postTemplateChanges(platform, {
      message_template_name: names[1],
      message_template_id: 572279198452421,
    })
    expect((await second.read(theirs.id)).status).toBe('approved')
    expect((await templates.read(mine.id)).status).toBe('pending')
    expect(await templates.list('?status=pending&officialSenderId=platform')).toMatchObject([{ id: mine.id }])
  })

  test('created with a test key belongs to the sandbox', async () => {
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

  test('cannot be deleted while its connection is disabled, but can once the connection is deleted', async () => {
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

  test('that is live cannot be deleted with a test key', async () => {
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

  test('of the sandbox can be deleted with a test key and a live key', async () => {
    const tried = createTemplateCalls(app, account, account.testKey)
    for (const calls of [tried, templates]) {
      const { id } = await tried.made({ ...ORDER, name: 'tried_and_gone' })
      expect((await app.during(calls.call('DELETE', `/${id}`))).status).toBe(200)
    }
  })

  test('of the sandbox is not affected when another account deletes its own of the same name', async () => {
    const second = await app.createAccount()
    const ours = createTemplateCalls(app, account, account.testKey)
    const theirs = createTemplateCalls(app, second, second.testKey)
    const same = { ...ORDER, name: 'same_name' }

    // Deleted before the verdicts are due.
    const [deleted, pending] = [await ours.made(same), await theirs.made(same)]
    expect((await ours.call('DELETE', `/${deleted.id}`)).status).toBe(200)
    expect((await theirs.read(pending.id)).status).toBe('pending')
    expect((await theirs.decided(pending.id)).status).toBe('approved')

    // Deleted after both were approved.
    const again = await ours.made(same)
    await ours.decided(again.id)
    expect((await ours.call('DELETE', `/${again.id}`)).status).toBe(200)
    expect((await theirs.read(pending.id)).status).toBe('approved')
    const use = { to: '+16505551234', template: { id: pending.id, variablesIndexed: ['Ada', '1'] } }
    expect((await app.during(second.send(use))).status).toBe(200)
  })

  test('can be bound to an existing one by its id, whatever its name, and used in a send', async () => {
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

    // Posthorn did not create it, so it is not deleted at the provider.
    const requests = bound.peer.requests.length
    expect((await app.during(templates.call('DELETE', `/${made.id}`))).status).toBe(200)
    expect(bound.peer.requests).toHaveLength(requests)
  })

  test('cannot be bound to an id that does not exist or has another language', async () => {
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

test('a header asset cannot be deleted while its template is being submitted to WhatsApp', async () => {
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
