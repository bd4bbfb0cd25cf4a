import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TemplateView } from '../../../src/contract/template.ts'
import {
  deleteTemplate,
  lockTemplate,
  setDefaultTemplate,
  type TemplateId,
} from '../../../src/core/templates/store.ts'
import { type AccountId, toUuid } from '../../../src/lib/ids.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { lookUntil } from '../../support/look-until.ts'
import { createTemplateCalls, OFFICIAL, SMS, type TemplateCalls } from './support.ts'

let app: TestApp
let account: TestAccount
let templates: TemplateCalls
beforeAll(async () => {
  app = await startTestApp()
})
beforeEach(async () => {
  account = await app.createAccount()
  templates = createTemplateCalls(app, account)
})
afterAll(() => app.stop())

const codeOf = (answer: Answer) => [answer.status, answer.body['code']]
const names = (rows: readonly TemplateView[]) => rows.map(({ name }) => name)
const SMS_KIND = { category: 'sms', subType: 'utility' } as const
const rowOf = (id: string) => ({ accountId: account.id as AccountId, id: id as TemplateId })

/** The number of database sessions that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await app.db.query({
    name: 'test_blocked',
    text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return rows.length
}

async function defaultsOf(id: string): Promise<number> {
  const { rows } = await app.db.query({
    name: 'test_defaults',
    text: 'select 1 from template_defaults where template_id = $1',
    values: [toUuid(id as TemplateId)],
  })
  return rows.length
}

describe('GET /api/v2/templates', () => {
  test('lists usable templates newest first, and filters them', async () => {
    await templates.made({ ...SMS, name: 'first' })
    const { id } = await templates.made({ ...SMS, name: 'second' })
    await templates.made({
      name: 'mail',
      category: 'email',
      subType: 'free',
      emailSubject: 'Hi',
      content: 'Hi',
    })
    const official = await templates.made(OFFICIAL)
    await templates.call('POST', `/${id}/disable`)

    expect(names(await templates.list())).toEqual(['mail', 'first'])
    expect(names(await templates.list('?category=sms'))).toEqual(['first'])
    expect(names(await templates.list('?status=disabled'))).toEqual(['second'])
    expect(names(await templates.list('?provider=official_provider'))).toEqual([])
    await templates.decided(official.id)
    expect(names(await templates.list('?provider=official_provider'))).toEqual(['order_update'])
    for (const query of ['?officialSenderId=platform', '?sender.officialId=platform', '/platform']) {
      expect(names(await templates.list(query))).toEqual(['order_update'])
    }
    const both = '?officialSenderId=platform&sender.officialId=platform'
    expect(names(await templates.list(both))).toEqual(['order_update'])
    expect(names(await templates.list('/platform?category=sms'))).toEqual([])
    expect(names(await templates.list('/platform?sender.officialId=other'))).toEqual(['order_update'])
    const page = await templates.call('GET', '/platform?limit=1')
    expect(Object.keys(page.body)).toEqual(['data', 'nextCursor'])
    expect(page.body['data']).toHaveLength(1)
    expect((await templates.call('GET', '/platform?limit=0')).status).toBe(400)
    const other = createTemplateCalls(app, await app.createAccount())
    expect(await other.list()).toEqual([])
  })

  test('returns all without a limit, and pages with one', async () => {
    for (const letter of ['a', 'b', 'c']) await templates.made({ ...SMS, name: `t_${letter}` })
    const all = await templates.call('GET', '')
    expect(Object.keys(all.body)).toEqual(['data'])
    expect(names(all.body['data'] as TemplateView[])).toEqual(['t_c', 't_b', 't_a'])
    const first = await templates.call('GET', '?limit=2')
    expect(names(first.body['data'] as TemplateView[])).toEqual(['t_c', 't_b'])
    const next = await templates.call('GET', `?limit=2&cursor=${first.body['nextCursor']}`)
    expect(names(next.body['data'] as TemplateView[])).toEqual(['t_a'])
    expect(next.body['nextCursor']).toBeNull()
  })

  test('rejects invalid filters', async () => {
    for (const [query, path] of [
      ['?category=fax', 'category'],
      ['?status=gone', 'status'],
      ['?provider=me', 'provider'],
      ['?limit=0', 'limit'],
      ['?limit=501', 'limit'],
      ['?cursor=nonsense', 'cursor'],
      ['?officialSenderId=', 'officialSenderId'],
      ['?sender.officialId=', 'sender.officialId'],
      [`?sender.officialId=${'x'.repeat(201)}`, 'sender.officialId'],
      ['?officialSenderId=platform&sender.officialId=cnn_01m7zfya87e70a0k047jvs2kk8', 'officialSenderId'],
    ] as const) {
      const answer = await templates.call('GET', query)
      expect(codeOf(answer)).toEqual([400, 'VALIDATION_ERROR'])
      expect(faultPaths(answer)).toEqual([path])
    }
    for (const path of ['officialSenderId', 'sender.officialId']) {
      const unknown = await templates.call('GET', `?${path}=cnn_01m7zfya87e70a0k047jvs2kk8`)
      expect([...codeOf(unknown), faultPaths(unknown)]).toEqual([404, 'NOT_FOUND', [path]])
    }
  })
})

describe('a template', () => {
  test('is not found by another account', async () => {
    const { id } = await templates.made(SMS)
    const other = createTemplateCalls(app, await app.createAccount())
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['DELETE', '', undefined],
      ['POST', '/default', undefined],
      ['POST', '/enable', undefined],
      ['POST', '/disable', undefined],
      ['POST', '/preview', {}],
    ] as const) {
      for (const unknown of [id, 'nothing', 'tpl_01m7zfya87e70a0k047jvs2kk8']) {
        const answer = await other.call(method, `/${unknown}${path}`, body)
        expect([...codeOf(answer), answer.body['error']]).toEqual([404, 'NOT_FOUND', 'Template not found'])
      }
    }
    expect(Object.keys((await templates.call('GET', `/${id}`)).body)).toEqual(['data'])
  })

  test('is enabled and disabled idempotently when it is local, and returns 409 when it is official', async () => {
    const { id } = await templates.made(SMS)
    for (const [verb, status] of [
      ['disable', 'disabled'],
      ['disable', 'disabled'],
      ['enable', 'active'],
      ['enable', 'active'],
    ] as const) {
      const answer = await templates.call('POST', `/${id}/${verb}`)
      expect(answer.body).toMatchObject({ success: true, data: { id, status } })
    }
    const official = await templates.made(OFFICIAL)
    for (const verb of ['disable', 'enable'] as const) {
      expect(codeOf(await templates.call('POST', `/${official.id}/${verb}`))).toEqual([409, 'CONFLICT'])
    }
  })

  test('can be the one default of its kind when it is usable', async () => {
    const one = await templates.made({ ...SMS, name: 'one' })
    const two = await templates.made({ ...SMS, name: 'two' })
    expect((await templates.call('POST', `/${one.id}/default`)).body['data']).toMatchObject({
      isDefault: true,
    })
    await templates.call('POST', `/${two.id}/default`)
    expect((await templates.list()).map(each => [each.name, each.isDefault])).toEqual([
      ['two', true],
      ['one', false],
    ])
    const pending = await templates.made(OFFICIAL)
    expect(codeOf(await templates.call('POST', `/${pending.id}/default`))).toEqual([409, 'CONFLICT'])
    const wordy = await templates.made({ ...SMS, name: 'wordy', subType: 'otp' })
    expect(codeOf(await templates.call('POST', `/${wordy.id}/default`))).toEqual([409, 'CONFLICT'])
  })

  test('can be deleted, and its name is free again', async () => {
    const local = await templates.made(SMS)
    const official = await templates.made({ ...OFFICIAL, name: 'gone' })
    for (const { id } of [local, official]) {
      await templates.call('POST', `/${id}/default`)
      const answer = await templates.call('DELETE', `/${id}`)
      expect(answer.body).toEqual({ success: true, data: { id, deleted: true } })
      expect(codeOf(await templates.call('GET', `/${id}`))).toEqual([404, 'NOT_FOUND'])
    }
    await templates.made(SMS)
    await templates.made({ ...OFFICIAL, name: 'gone' })
  })

  test('that is being deleted concurrently cannot become a default or be disabled', async () => {
    const { id } = await templates.made(SMS)
    let late: Promise<Answer[]> = Promise.resolve([])
    await app.db.transaction(async tx => {
      await deleteTemplate(tx, rowOf(id))
      late = Promise.all(['default', 'disable'].map(verb => templates.call('POST', `/${id}/${verb}`)))
      await lookUntil(waiting, waiting => waiting === 2, 10_000)
    })
    expect((await late).map(codeOf)).toEqual([
      [404, 'NOT_FOUND'],
      [404, 'NOT_FOUND'],
    ])
    expect(await defaultsOf(id)).toBe(0)
  })

  test('that is deleted while it becomes the default leaves no default', async () => {
    const { id } = await templates.made(SMS)
    let late: Promise<Answer> | undefined
    await app.db.transaction(async tx => {
      await lockTemplate(tx, rowOf(id))
      await setDefaultTemplate(tx, account.id as AccountId, { ...SMS_KIND, id: id as TemplateId })
      late = templates.call('DELETE', `/${id}`)
      await lookUntil(waiting, waiting => waiting === 1, 10_000)
    })
    expect((await late!).status).toBe(200)
    expect(await defaultsOf(id)).toBe(0)
  })

  test('is previewed as a send would render it', async () => {
    const { id } = await templates.made({
      ...OFFICIAL,
      headerType: 'text',
      headerValue: 'News',
      footer: 'Acme',
      buttons: [{ type: 'url', text: 'Track', url: 'https://example.com/t/{{1}}' }],
    })
    const preview = (body: unknown) => templates.call('POST', `/${id}/preview`, body)
    // No body is the same as an empty one.
    expect((await preview(undefined)).body).toEqual((await preview({})).body)
    expect((await preview({})).body['data']).toEqual({
      text: 'Order 4711 is on its way.',
      subject: null,
      html: false,
      header: { type: 'text', text: 'News', previewUrl: null },
      footer: 'Acme',
      buttons: [{ type: 'url', text: 'Track', value: 'https://example.com/t/example' }],
      sms: null,
    })
    const given = { variablesIndexed: ['1', '2'], buttonVariables: [{ index: 0, text: 'x' }] }
    expect((await preview(given)).body['data']).toMatchObject({
      text: 'Order 1 is 2.',
      buttons: [{ value: 'https://example.com/t/x' }],
    })
    for (const [body, path] of [
      [{ variablesIndexed: ['1'] }, 'variablesIndexed'],
      [{ variablesNamed: { '1': 'a' } }, 'variablesNamed'],
      [{ ...given, variablesNamed: { '1': 'a' } }, 'variablesNamed'],
      [{ buttonVariables: [{ index: 1, text: 'x' }] }, 'buttonVariables[0].index'],
    ] as const) {
      expect(faultPaths(await preview(body))).toEqual([path])
    }
    const sms = await templates.made(SMS)
    const inSms = await templates.call('POST', `/${sms.id}/preview`, {})
    expect(inSms.body['data']).toMatchObject({ text: 'Order {{1}} is {{2}}.', sms: { parts: 1 } })
  })

  test('is rejected when its rendered text exceeds the limit, in a preview and in a send', async () => {
    const content = '{{1}}'.repeat(1_000)
    const { id } = await templates.made({
      ...SMS,
      name: 'often',
      category: 'email',
      content,
      emailSubject: 'x',
    })
    const preview = (value: string) => templates.call('POST', `/${id}/preview`, { variablesIndexed: [value] })
    expect((await preview('a'.repeat(500))).status).toBe(200)
    expect(faultPaths(await preview('a'.repeat(501)))).toEqual(['variablesIndexed'])
    const template = { id, variablesIndexed: ['a'.repeat(501)] }
    expect(faultPaths(await account.send({ to: 'ada@example.com', template }))).toEqual(['template'])
  })
})

describe('a platform template', () => {
  test('cannot be the default for one-time codes when it has more than one placeholder', async () => {
    const body = { ...SMS, name: 'two_values', subType: 'otp', content: '{{1}} for {{2}}' }
    const refused = await app.admin('POST', '/templates', { ...body, isDefault: true })
    expect(refused.status).toBe(400)
    expect(faultPaths(refused)).toEqual(['isDefault'])
    const made = await app.admin('POST', '/templates', body)
    expect(made.status, made.text).toBe(201)
    const { id } = (made.body['data'] as { template: TemplateView }).template
    expect((await app.admin('DELETE', `/templates/${id}`)).status).toBe(200)
  })

  test('can be used by every account, and changed by none', async () => {
    const made = await app.admin('POST', '/templates', {
      ...SMS,
      name: 'platform_code',
      subType: 'otp',
      content: 'Platform: {{1}}',
      isDefault: true,
    })
    expect(made.status, made.text).toBe(201)
    const { template } = made.body['data'] as { template: TemplateView }
    const { id } = template
    expect(template).toMatchObject({ isPlatformTemplate: true, isDefault: true, status: 'active' })
    expect(await templates.read(id)).toMatchObject({ isPlatformTemplate: true, isDefault: true })
    expect(names(await templates.list())).toEqual(['platform_code'])

    const to = '+12025550161'
    const body = { to, channel: 'local_sms', content: { otpCode: '4711' } }
    expect((await app.during(account.send(body))).status).toBe(200)
    const [taken] = await app.until(
      () => account.inbox(to),
      items => items.length > 0,
    )
    expect(taken!.text).toBe('Platform: 4711')

    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/disable'],
      ['POST', '/enable'],
    ] as const) {
      expect(codeOf(await templates.call(method, `/${id}${path}`))).toEqual([403, 'FORBIDDEN'])
    }
    const own = await templates.made({ ...SMS, name: 'own_code', subType: 'otp', content: 'Own: {{1}}' })
    await templates.call('POST', `/${own.id}/default`)
    expect((await templates.list()).map(each => [each.name, each.isDefault])).toEqual([
      ['own_code', true],
      ['platform_code', false],
    ])
    await templates.call('POST', `/${id}/default`)
    expect(await templates.read(id)).toMatchObject({ isDefault: true })

    for (const query of ['', '?limit=1']) {
      const { body } = await app.admin('GET', `/templates${query}`)
      expect(body).toEqual({ success: true, data: [expect.objectContaining({ id })], nextCursor: null })
    }
    expect((await app.admin('DELETE', `/templates/${id}`)).status).toBe(200)
    expect(names(await templates.list())).toEqual(['own_code'])
    expect(codeOf(await app.admin('DELETE', `/templates/${id}`))).toEqual([404, 'NOT_FOUND'])
  })

  test('is validated like any other template, and needs operator access', async () => {
    const answer = await app.admin('POST', '/templates', { ...SMS, name: 'Platform' })
    expect(codeOf(answer)).toEqual([400, 'VALIDATION_ERROR'])
    expect(faultPaths(answer)).toEqual(['name'])
    expect((await app.call('/api/admin/templates', { method: 'POST', body: SMS })).status).toBe(401)
  })
})

describe('template events', () => {
  test('are created for the pending and the approved status of an official template', async () => {
    const { id } = await templates.made({ ...OFFICIAL, name: 'told' })
    await templates.decided(id)
    const { rows } = await app.db.query<{ type: string; data: unknown }>({
      name: 'template_events',
      text: `select type, data from events where type like 'template.%' and data ->> 'templateId' = $1 order by at, id`,
      values: [id],
    })
    expect(rows).toMatchObject([
      {
        type: 'template.pending',
        data: { name: 'told', status: 'pending', previousStatus: null, drift: false },
      },
      { type: 'template.approved', data: { status: 'approved', previousStatus: 'pending', language: 'en' } },
    ])
  })
})

describe('an account at its template limit', () => {
  test('cannot create more than 5,000 templates of any kind, until it deletes one', async () => {
    const first = await templates.made({ ...SMS, name: 'first' })
    const { rowCount } = await app.db.query({
      name: 'fill_templates',
      text: `insert into templates (account_id, id, name, category, sub_type, language, provider, status, spec, compiled)
        select account_id, gen_random_uuid(), 'n_' || translate(n::text, '0123456789', 'abcdefghij'), category, sub_type,
               language, provider, status, spec, compiled
          from templates, generate_series(1, 4998) n where id = $1`,
      values: [toUuid(first.id as `tpl_${string}`)],
    })
    expect(rowCount).toBe(4_998)
    const racing = ['a', 'b', 'c', 'd'].map(letter => templates.create({ ...SMS, name: `last_${letter}` }))
    const answers = await Promise.all(racing)
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    const refused = answers.find(({ status }) => status === 409)!
    expect(refused.body).toMatchObject({ code: 'CONFLICT', error: expect.stringContaining('5,000') })
    expect(codeOf(await templates.create({ ...OFFICIAL, name: 'one_more' }))).toEqual([409, 'CONFLICT'])
    expect((await templates.call('DELETE', `/${first.id}`)).status).toBe(200)
    await templates.made({ ...OFFICIAL, name: 'one_more' })
    // Another account is not affected.
    await createTemplateCalls(app, await app.createAccount()).made(SMS)
  })

  test('cannot create more than 16 MB of templates', async () => {
    const heavy = createTemplateCalls(app, await app.createAccount())
    const { id } = await heavy.made({ ...SMS, name: 'heavy' })
    await app.db.query({
      name: 'weigh_down',
      text: `update templates set spec = json_build_object('content', repeat('x', 15999900)) where id = $1`,
      values: [toUuid(id as `tpl_${string}`)],
    })
    const refused = await heavy.create({ ...SMS, name: 'another' })
    expect(refused.body).toMatchObject({ code: 'CONFLICT', error: expect.stringContaining('16 MB') })
  })
})
