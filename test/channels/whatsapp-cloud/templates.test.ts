import { TemplateDefinition, WhatsAppClient } from '@kapso/whatsapp-cloud-api'
import { afterEach, describe, expect, test } from 'vitest'
import type { OfficialTemplate } from '../../../src/channels/provider.ts'
import type { PeerAct, PeerRequest } from '../../support/http-peer.ts'
import { never } from '../conformance.ts'
import {
  ACCESS_TOKEN,
  BUSINESS_ACCOUNT_ID,
  brokenFile,
  file,
  graphError,
} from '../whatsapp-cloud.exchange.ts'
import { json, openSession, type Session } from './link.ts'

const EDGE = `/v25.0/${BUSINESS_ACCOUNT_ID}/message_templates`
const open: Session[] = []
afterEach(async () => {
  for (const session of open.splice(0)) await session.close()
})
async function session(act: (request: PeerRequest, nth: number) => PeerAct): Promise<Session> {
  const opened = await openSession(act)
  open.push(opened)
  return opened
}

const official = (more: Partial<OfficialTemplate> = {}): OfficialTemplate => ({
  name: 'order_update',
  language: 'en_US',
  subType: 'utility',
  header: { type: 'text', text: 'Order {{1}}', examples: ['1815'] },
  body: 'Hi {{1}}, order {{2}} is on its way.',
  examples: ['Ada', '1815'],
  footer: 'Reply STOP to end',
  buttons: [
    {
      type: 'url',
      text: 'Track',
      url: 'https://example.com/t/{{1}}',
      urlExample: 'https://example.com/t/1815',
    },
    { type: 'phone', text: 'Call us', phoneNumber: '+16505551234' },
    { type: 'quick_reply', text: 'Thanks' },
  ],
  otp: null,
  ...more,
})

const NAMED = { name: 'a', language: 'en', providerTemplateId: null }

const otp = (more: Partial<NonNullable<OfficialTemplate['otp']>> = {}): OfficialTemplate =>
  official({
    name: 'login_code',
    subType: 'otp',
    header: null,
    body: '',
    examples: [],
    footer: null,
    buttons: [],
    otp: {
      type: 'copy_code',
      addSecurityRecommendation: true,
      codeExpirationMinutes: 5,
      buttonText: 'Copy code',
      packageName: null,
      signatureHash: null,
      zeroTapTermsAccepted: false,
      ...more,
    },
  })

/** The body that an independent client posts for the same template. */
async function theirs(definition: unknown): Promise<unknown> {
  let posted: unknown
  const client = new WhatsAppClient({
    accessToken: ACCESS_TOKEN,
    fetch: async (_url, init) => {
      posted = JSON.parse(String(init?.body))
      return new Response('{}', { headers: { 'Content-Type': 'application/json' } })
    },
  })
  const built = TemplateDefinition.buildTemplateDefinition(definition as never) as object
  await client.templates.create({ businessAccountId: BUSINESS_ACCOUNT_ID, ...built } as never)
  return posted
}

describe('submitting a template', () => {
  test('posts the body that an independent client posts', async () => {
    const { link, peer } = await session(() => json({ id: '594425479261596', status: 'PENDING' }))
    expect(await link.submitTemplate!(official(), never())).toEqual({
      kind: 'submitted',
      state: {
        providerTemplateId: '594425479261596',
        name: 'order_update',
        language: 'en_US',
        status: 'pending',
        reason: null,
      },
    })
    expect(peer.requests[0]).toMatchObject({ method: 'POST', path: EDGE })
    const definition = {
      name: 'order_update',
      language: 'en_US',
      category: 'UTILITY',
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { headerText: ['1815'] } },
        {
          type: 'BODY',
          text: 'Hi {{1}}, order {{2}} is on its way.',
          example: { bodyText: [['Ada', '1815']] },
        },
        { type: 'FOOTER', text: 'Reply STOP to end' },
        {
          type: 'BUTTONS',
          buttons: [
            {
              type: 'URL',
              text: 'Track',
              url: 'https://example.com/t/{{1}}',
              example: ['https://example.com/t/1815'],
            },
            { type: 'PHONE_NUMBER', text: 'Call us', phoneNumber: '+16505551234' },
            { type: 'QUICK_REPLY', text: 'Thanks' },
          ],
        },
      ],
    }
    expect(JSON.parse(peer.requests[0]!.body)).toEqual(await theirs(definition))
  })

  test.each([
    ['copy_code', otp(), [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }]],
    [
      'one_tap',
      otp({ type: 'one_tap', packageName: 'com.example.app', signatureHash: 'K8a/AINcGX7' }),
      [
        {
          type: 'OTP',
          otp_type: 'ONE_TAP',
          text: 'Copy code',
          supported_apps: [{ package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' }],
        },
      ],
    ],
    [
      'zero_tap',
      otp({
        type: 'zero_tap',
        buttonText: null,
        packageName: 'com.example.app',
        signatureHash: 'K8a/AINcGX7',
        zeroTapTermsAccepted: true,
      }),
      [
        {
          type: 'OTP',
          otp_type: 'ZERO_TAP',
          supported_apps: [{ package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' }],
          zero_tap_terms_accepted: true,
        },
      ],
    ],
  ])('posts the button of a one-time code template: %s', async (_, template, buttons) => {
    const { link, peer } = await session(() => json({ id: '1', status: 'APPROVED' }))
    expect(await link.submitTemplate!(template, never())).toMatchObject({ state: { status: 'approved' } })
    expect(JSON.parse(peer.requests[0]!.body)).toEqual({
      name: 'login_code',
      language: 'en_US',
      category: 'AUTHENTICATION',
      components: [
        { type: 'BODY', add_security_recommendation: true },
        { type: 'FOOTER', code_expiration_minutes: 5 },
        { type: 'BUTTONS', buttons },
      ],
    })
  })

  test('omits an absent expiry and button text, and posts a coupon button', async () => {
    const { link, peer } = await session(() => json({ id: '1', status: 'PENDING' }))
    await link.submitTemplate!(otp({ codeExpirationMinutes: null, buttonText: null }), never())
    await link.submitTemplate!(
      official({
        subType: 'marketing',
        header: null,
        body: 'Save',
        examples: [],
        footer: null,
        buttons: [{ type: 'copy_code', text: 'Copy', example: 'SAVE20' }],
      }),
      never(),
    )
    const [first, second] = peer.requests.map(request => JSON.parse(request.body))
    expect(first.components).toEqual([
      { type: 'BODY', add_security_recommendation: true },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
    ])
    expect(second).toMatchObject({
      category: 'MARKETING',
      components: [
        { type: 'BODY', text: 'Save' },
        { type: 'BUTTONS', buttons: [{ type: 'COPY_CODE', example: 'SAVE20' }] },
      ],
    })
  })

  test('uploads the sample of a picture first, in an upload session', async () => {
    const { link, peer } = await session(request => {
      if (request.path.includes('/uploads?')) return json({ id: 'upload:MTphd?sig=ARZqkGCA_uQ' })
      return request.path.includes('/upload:')
        ? json({ h: '4::aW1hZ2U=:ARbQ' })
        : json({ id: '1', status: 'PENDING' })
    })
    const outcome = await link.submitTemplate!(official({ header: { type: 'image', file: file() } }), never())
    expect(outcome.kind).toBe('submitted')
    const [start, bytes, create] = peer.requests
    expect(start).toMatchObject({
      method: 'POST',
      path: '/v25.0/app/uploads?file_name=ship.png&file_length=20&file_type=image%2Fpng',
    })
    expect(bytes).toMatchObject({
      method: 'POST',
      path: '/v25.0/upload:MTphd?sig=ARZqkGCA_uQ',
      headers: { authorization: `OAuth ${ACCESS_TOKEN}`, file_offset: '0', 'content-length': '20' },
      body: 'not really a picture',
    })
    expect(JSON.parse(create!.body).components[0]).toEqual({
      type: 'HEADER',
      format: 'IMAGE',
      example: { header_handle: ['4::aW1hZ2U=:ARbQ'] },
    })
  })

  const COMPONENTS = [
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['1815'] } },
    { type: 'BODY', text: 'Hi {{1}}, order {{2}} is on its way.' },
    { type: 'FOOTER', text: 'Reply STOP to end' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'URL', text: 'Track', url: 'https://example.com/t/{{1}}' },
        { type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+16505551234' },
        { type: 'QUICK_REPLY', text: 'Thanks' },
      ],
    },
  ]
  const ofComponent = (type: string, more: object) =>
    COMPONENTS.map(each => (each.type === type ? { ...each, ...more } : each))
  const ofButtons = (at: number, more: object) => {
    const { buttons = [] } = COMPONENTS.find(({ type }) => type === 'BUTTONS')!
    return ofComponent('BUTTONS', {
      buttons: buttons.map((each, index) => (index === at ? { ...each, ...more } : each)),
    })
  }
  /** A session with a WhatsApp that already has a template of that name. */
  const having = (more: object) =>
    session(request =>
      request.method === 'POST'
        ? graphError(400, 100, { error_subcode: 2_388_024 })
        : json({
            data: [{ id: '7', name: 'order_update', language: 'en_US', status: 'APPROVED', ...more }],
          }),
    )

  test('counts an existing template with the same content as submitted, and returns its status', async () => {
    const { link, peer } = await having({ components: COMPONENTS, rejected_reason: 'NONE' })
    expect(await link.submitTemplate!(official(), never())).toMatchObject({
      kind: 'submitted',
      state: { providerTemplateId: '7', status: 'approved', reason: null },
    })
    expect(peer.requests.at(-1)!.path).toContain('components')
  })

  test('finds the existing template behind a page of long ones whose names contain its name', async () => {
    const own = {
      id: '7',
      name: 'order_update',
      language: 'en_US',
      status: 'APPROVED',
      components: COMPONENTS,
    }
    const long = [{ type: 'BODY', text: 'ж'.repeat(1_024) }]
    const others = Array.from({ length: 99 }, (_, at) => ({
      ...own,
      id: String(100 + at),
      name: `order_update_${'x'.repeat(at)}`,
      components: [...long, { type: 'FOOTER', text: 'ж'.repeat(60) }],
    }))
    // Graph escapes what is not ASCII.
    const list = JSON.stringify({ data: [...others, own] }).replace(/ж/g, '\\u0436')
    const { link } = await session(({ method }) =>
      method === 'POST' ? graphError(400, 100, { error_subcode: 2_388_024 }) : { status: 200, body: list },
    )
    expect(await link.submitTemplate!(official(), never())).toMatchObject({
      kind: 'submitted',
      state: { providerTemplateId: '7', status: 'approved' },
    })
  })

  test.each([
    ['body', ofComponent('BODY', { text: 'Bye {{1}}, order {{2}} is lost.' })],
    ['header', ofComponent('HEADER', { format: 'IMAGE', text: undefined })],
    ['footer', COMPONENTS.filter(({ type }) => type !== 'FOOTER')],
    [
      'button',
      ofComponent('BUTTONS', { buttons: [{ type: 'URL', text: 'Track', url: 'https://other.example/' }] }),
    ],
    ['label of a button', ofButtons(1, { text: 'Complain' })],
    ['phone number of a button', ofButtons(1, { phone_number: '+16505559999' })],
    ['set of components, which WhatsApp does not return', undefined],
  ])('is refused when the name belongs to a template with another %s', async (_, components) => {
    const { link } = await having({ components })
    expect(await link.submitTemplate!(official(), never())).toMatchObject({ kind: 'refused', path: 'name' })
  })

  test('counts an existing one-time code template as submitted only if it has the category for codes', async () => {
    const named = { name: 'login_code' }
    const codes = await having({ ...named, category: 'AUTHENTICATION' })
    expect(await codes.link.submitTemplate!(otp(), never())).toMatchObject({ kind: 'submitted' })
    const other = await having({ ...named, category: 'UTILITY', components: COMPONENTS })
    expect(await other.link.submitTemplate!(otp(), never())).toMatchObject({ kind: 'refused', path: 'name' })
  })

  test.each<[string, PeerAct]>([
    ['a server error', graphError(500, 2)],
    ['a server error with an HTML page', { status: 502, body: '<html>' }],
    ['a successful response with an HTML page', { status: 200, body: '<html>' }],
    ['a successful response without an id', json({})],
    ['too many calls', graphError(400, 80_007)],
    ['too many calls for templates', graphError(400, 80_008)],
    ['too many calls, with an undocumented code', graphError(429, 99_999)],
    ['a path that is not known, with an undocumented code', graphError(404, 99_999)],
    ['an expired access token', graphError(401, 190)],
    ['a business account that the token may not use', graphError(400, 100, { error_subcode: 33 })],
    ['a connection reset', 'reset'],
  ])('is unavailable after %s', async (_, act) => {
    const { link } = await session(() => act)
    expect(await link.submitTemplate!(official(), never())).toMatchObject({ kind: 'unavailable' })
  })

  test('is refused with the explanation of WhatsApp', async () => {
    const words = 'Variables can’t be at the start or end of the template.'
    const { link } = await session(() =>
      graphError(400, 100, { error_subcode: 2_388_299, error_user_msg: words }),
    )
    expect(await link.submitTemplate!(official(), never())).toEqual({
      kind: 'refused',
      detail: words,
      providerCode: '100',
    })
  })

  test('is refused with an explanation that is not cut within a character', async () => {
    const words = `${'a'.repeat(299)}😀 and more`
    const { link } = await session(() => graphError(400, 100, { error_user_msg: words }))
    const outcome = await link.submitTemplate!(official(), never())
    expect(outcome).toMatchObject({ kind: 'refused', detail: expect.stringMatching(/^a{299}/) })
    expect((outcome as { detail: string }).detail.isWellFormed()).toBe(true)
  })

  test('names the field of a picture that is refused or gone, and is unavailable for a busy one', async () => {
    const refusing = await session(() => graphError(400, 100, { error_user_msg: 'Unsupported type' }))
    const header = (
      file: OfficialTemplate['header'] extends infer H ? Extract<H, { file: unknown }>['file'] : never,
    ) => official({ header: { type: 'image', file } })
    expect(await refusing.link.submitTemplate!(header(file()), never())).toMatchObject({
      kind: 'refused',
      path: 'headerAssetId',
    })
    const taking = await session(() => json({ id: 'upload:1', h: '4:1' }))
    expect(await taking.link.submitTemplate!(header(brokenFile(false)), never())).toMatchObject({
      kind: 'refused',
      path: 'headerAssetId',
    })
    expect(await taking.link.submitTemplate!(header(brokenFile(true)), never())).toMatchObject({
      kind: 'unavailable',
    })
  })
})

describe('reading the status of a template', () => {
  const item = (name: string, language: string, status: string, more: object = {}) => ({
    id: `${name}-${language}`,
    name,
    language,
    status,
    ...more,
  })

  test('looks for the exact name and language on all pages', async () => {
    const { link, peer } = await session(request =>
      request.path.includes('after=')
        ? json({
            data: [
              item('order_update', 'de', 'APPROVED'),
              item('order_update', 'en_US', 'REJECTED', { rejected_reason: 'SCAM' }),
            ],
            paging: { cursors: { after: 'END' } },
          })
        : json({
            data: [item('order_update_two', 'en_US', 'APPROVED')],
            paging: { cursors: { after: 'NEXT' }, next: 'https://graph.facebook.com/…' },
          }),
    )
    expect(await link.readTemplate!('order_update', 'en_US', never())).toEqual({
      providerTemplateId: 'order_update-en_US',
      name: 'order_update',
      language: 'en_US',
      status: 'rejected',
      reason: 'SCAM',
    })
    expect(peer.requests.map(request => request.path)).toEqual([
      `${EDGE}?name=order_update&fields=id%2Cname%2Clanguage%2Cstatus%2Ccategory%2Crejected_reason&limit=100`,
      `${EDGE}?name=order_update&fields=id%2Cname%2Clanguage%2Cstatus%2Ccategory%2Crejected_reason&limit=100&after=NEXT`,
    ])
    expect(await link.readTemplate!('order_update', 'fr', never())).toBeNull()
  })

  test.each([
    ['APPROVED', 'approved'],
    ['PENDING', 'pending'],
    ['IN_APPEAL', 'pending'],
    ['REJECTED', 'rejected'],
    ['PAUSED', 'disabled'],
    ['DISABLED', 'disabled'],
    ['PENDING_DELETION', 'disabled'],
    ['A_WORD_OF_TOMORROW', 'pending'],
  ])('maps the status %s to %s', async (reported, status) => {
    const { link } = await session(() => json({ data: [item('a', 'en', reported)] }))
    expect(await link.readTemplate!('a', 'en', never())).toMatchObject({ status, reason: null })
  })

  test('rejects when WhatsApp returns an error', async () => {
    const { link } = await session(() => graphError(500, 2))
    await expect(link.readTemplate!('a', 'en', never())).rejects.toThrow(
      'WhatsApp did not process the request',
    )
  })

  test('rejects when the name may be on a page that is not read any more, and for an answer without a list', async () => {
    const endless = await session((_, nth) =>
      json({
        data: [item(`a_${nth}`, 'en', 'APPROVED')],
        paging: { cursors: { after: `page${nth}` }, next: 'https://graph.facebook.com/…' },
      }),
    )
    await expect(endless.link.readTemplate!('a', 'en', never())).rejects.toThrow('too many templates')
    await expect(endless.link.deleteTemplate!(NAMED, never())).rejects.toThrow('too many templates')
    const other = await session(() => json({ status: 'ok' }))
    await expect(other.link.readTemplate!('a', 'en', never())).rejects.toThrow('no list of templates')
  })
})

describe('finding a template by its id', () => {
  const named = (item: object) => (request: PeerRequest) =>
    request.path.startsWith(EDGE)
      ? json({ data: [{ id: '77', name: 'spring_2026', language: 'de', status: 'APPROVED' }] })
      : json(item)

  test('returns its name, language and status', async () => {
    const { link, peer } = await session(named({ id: '77', name: 'spring_2026', language: 'de' }))
    expect(await link.findTemplate!('77', never())).toEqual({
      providerTemplateId: '77',
      name: 'spring_2026',
      language: 'de',
      status: 'approved',
      reason: null,
    })
    expect(peer.requests[0]!.path).toBe('/v25.0/77?fields=name,language')
  })

  test.each<[string, string, (request: PeerRequest) => PeerAct]>([
    ['that does not exist', '78', () => graphError(400, 100, { error_subcode: 33 })],
    ['that does not exist, with an undocumented code', '78', () => graphError(404, 99_999)],
    ['of an object that is not a template', '78', () => json({ id: '78' })],
    ['of a template of another business', '78', named({ id: '78', name: 'spring_2026', language: 'de' })],
  ])('returns null for an id %s', async (_, id, act) => {
    const { link } = await session(act)
    expect(await link.findTemplate!(id, never())).toBeNull()
  })

  test('accepts an id that is not a number, for servers that replace Graph', async () => {
    const item = { id: 'tpl_7-a', name: 'spring_2026', language: 'de', status: 'APPROVED' }
    const { link } = await session(({ path }) => json(path.startsWith(EDGE) ? { data: [item] } : item))
    expect(await link.findTemplate!('tpl_7-a', never())).toMatchObject({ status: 'approved' })
  })

  test('returns null for an invalid id without a request', async () => {
    const { link, peer } = await session(() => json({}))
    for (const id of ['me/accounts', '../1', '', '7?x=1']) {
      expect(await link.findTemplate!(id, never())).toBeNull()
    }
    expect(peer.requests).toEqual([])
  })

  test('rejects when WhatsApp returns an error', async () => {
    const { link } = await session(() => graphError(401, 190))
    await expect(link.findTemplate!('77', never())).rejects.toThrow('expired')
  })
})

describe('deleting a template', () => {
  const LISTED = json({ data: [{ id: '77', name: 'a', language: 'en', status: 'APPROVED' }] })

  test('deletes one language only, by its id', async () => {
    const { link, peer } = await session(request =>
      request.method === 'GET' ? LISTED : json({ success: true }),
    )
    await link.deleteTemplate!(NAMED, never())
    expect(peer.requests.at(-1)).toMatchObject({ method: 'DELETE', path: `${EDGE}?hsm_id=77&name=a` })
  })

  test('leaves another template alone that has the name by now', async () => {
    const { link, peer } = await session(request =>
      request.method === 'GET' ? LISTED : json({ success: true }),
    )
    await link.deleteTemplate!({ ...NAMED, providerTemplateId: '76' }, never())
    expect(peer.requests.map(request => request.method)).toEqual(['GET'])
    await link.deleteTemplate!({ ...NAMED, providerTemplateId: '77' }, never())
    expect(peer.requests.map(request => request.method)).toEqual(['GET', 'GET', 'DELETE'])
  })

  test('succeeds when the template does not exist, or was deleted meanwhile', async () => {
    const none = await session(() => json({ data: [] }))
    await none.link.deleteTemplate!(NAMED, never())
    expect(none.peer.requests.map(request => request.method)).toEqual(['GET'])
    const late = await session(request =>
      request.method === 'GET' ? LISTED : graphError(400, 100, { error_subcode: 2_593_002 }),
    )
    await late.link.deleteTemplate!(NAMED, never())
  })

  test('rejects when WhatsApp returns an error', async () => {
    const { link } = await session(request => (request.method === 'GET' ? LISTED : graphError(401, 190)))
    await expect(link.deleteTemplate!(NAMED, never())).rejects.toThrow('expired')
  })
})
