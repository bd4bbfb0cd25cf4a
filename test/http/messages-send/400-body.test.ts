import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { allInvalidAt, invalidAt, unreadable } from './refusal.ts'

/** Validation of the body: every field of the contract against every other kind of value. */

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

type Kind = 'string' | 'number' | 'boolean' | 'array' | 'object'

const VALUES: Record<Kind, unknown> = {
  string: 'x',
  number: 1.5,
  boolean: true,
  array: ['x'],
  object: { x: 'x' },
}

type Field = {
  /** The path to the field, and how an error response writes it where that differs. */
  at: (string | number)[]
  path?: string
  kind: Kind | 'enum' | 'integer'
  /** A string's longest length. */
  most?: number
  /** The length is limited only by the size of the body, or where the field counts: a subject's on e-mail. */
  unbounded?: true
}

/** Valid siblings of a nested field, so that it is the only fault. */
const AROUND: Record<string, Record<string, unknown>> = {
  attachment: { type: 'image', publicUrl: 'https://example.com/a.png' },
  conversationContext: { moduleType: 'chatapp_web', accountId: 'main', chatId: '+12025550100' },
  template: { id: 'tpl_1' },
}

const FIELDS: Field[] = [
  { at: ['to'], kind: 'string', most: 320 },
  { at: ['text'], kind: 'string', most: 500_000 },
  { at: ['channel'], kind: 'enum' },
  { at: ['messageType'], kind: 'enum' },
  { at: ['content'], kind: 'object' },
  { at: ['content', 'text'], kind: 'string', most: 500_000 },
  { at: ['content', 'otpCode'], kind: 'string', most: 32 },
  { at: ['content', 'subject'], kind: 'string', unbounded: true },
  { at: ['attachment'], kind: 'object' },
  { at: ['attachment', 'type'], kind: 'enum' },
  { at: ['attachment', 'publicUrl'], kind: 'string', most: 2_048 },
  { at: ['attachment', 'base64'], kind: 'string', unbounded: true },
  { at: ['attachment', 'mimetype'], kind: 'string', most: 255 },
  { at: ['attachment', 'fileName'], kind: 'string', most: 255 },
  { at: ['attachment', 'assetId'], kind: 'string', most: 200 },
  { at: ['conversationContext'], kind: 'object' },
  { at: ['conversationContext', 'moduleType'], kind: 'enum' },
  { at: ['conversationContext', 'accountId'], kind: 'string', most: 200 },
  { at: ['conversationContext', 'chatId'], kind: 'string', most: 200 },
  { at: ['conversationContext', 'contactId'], kind: 'string', most: 200 },
  { at: ['conversationContext', 'conversationKey'], kind: 'string', most: 500 },
  { at: ['template'], kind: 'object' },
  { at: ['template', 'id'], kind: 'string', most: 200 },
  { at: ['template', 'key'], kind: 'string', most: 200 },
  { at: ['template', 'language'], kind: 'string', most: 20 },
  { at: ['template', 'variablesIndexed'], kind: 'array' },
  { at: ['template', 'variablesIndexed', 0], kind: 'string', most: 4_096 },
  { at: ['template', 'variablesNamed'], kind: 'object' },
  {
    at: ['template', 'variablesNamed', '1'],
    path: 'template.variablesNamed["1"]',
    kind: 'string',
    most: 4_096,
  },
  { at: ['template', 'buttonVariables'], kind: 'array' },
  { at: ['template', 'buttonVariables', 0], kind: 'object' },
  { at: ['template', 'buttonVariables', 0, 'index'], kind: 'integer' },
  { at: ['template', 'buttonVariables', 0, 'subType'], kind: 'string', most: 20 },
  { at: ['template', 'buttonVariables', 0, 'text'], kind: 'string', most: 2_000 },
  { at: ['template', 'headerAssetId'], kind: 'string', most: 200 },
  { at: ['template', 'headerMediaUrl'], kind: 'string', most: 2_048 },
  { at: ['template', 'headerMediaType'], kind: 'enum' },
  { at: ['template', 'header'], kind: 'string', most: 2_048 },
  { at: ['options'], kind: 'object' },
  { at: ['options', 'scheduleAt'], kind: 'string', most: 40 },
  { at: ['options', 'idempotencyKey'], kind: 'string', most: 200 },
  { at: ['sender'], kind: 'object' },
  { at: ['sender', 'id'], kind: 'string', most: 200 },
  { at: ['sender', 'name'], kind: 'string', most: 200 },
  { at: ['sender', 'officialId'], kind: 'string', most: 200 },
  { at: ['senderId'], kind: 'string', most: 200 },
  { at: ['officialSenderId'], kind: 'string', most: 200 },
  { at: ['idempotencyKey'], kind: 'string', most: 200 },
]

const STRINGS = FIELDS.filter(field => field.kind === 'string')

/** A body that is valid except for one field. */
function bodyWith({ at }: Field, value: unknown): Record<string, unknown> {
  const [top, ...inner] = at
  const body: Record<string, unknown> = { to: '+12025550100', text: 'Hello' }
  body[top as string] = inner.length === 0 ? value : nest(AROUND[top as string] ?? {}, inner, value)
  return body
}

function nest(around: object, steps: (string | number)[], value: unknown): unknown {
  const [step, ...inner] = steps
  if (step === 0) return [inner.length === 0 ? value : nest({ index: 0, text: 'x' }, inner, value)]
  return { ...around, [step!]: inner.length === 0 ? value : nest({}, inner, value) }
}

function pathOf({ at, path }: Field): string {
  return path ?? at.reduce<string>((text, step) => text + (step === 0 ? '[0]' : `${text && '.'}${step}`), '')
}

const named = (fields: Field[]): [string, Field][] => fields.map(field => [pathOf(field), field])

describe('a value of the wrong type is rejected with the path of its field', () => {
  test.each(named(FIELDS))('%s', async (path, field) => {
    const wrong = (Object.keys(VALUES) as Kind[])
      .filter(kind => kind !== field.kind)
      // A list of recipients is a batch, which has its own tests.
      .filter(kind => path !== 'to' || kind !== 'array')
    const bodies = wrong.map(kind => bodyWith(field, VALUES[kind]))
    await allInvalidAt(account, bodies, path)
  })

  test('metadata accepts a value of any type, which the message returns', async () => {
    for (const metadata of Object.values(VALUES)) {
      const answer = await account.send({ to: '+12025550100', text: 'Hello', options: { metadata } })
      expect(answer.status, answer.text).toBe(200)
      expect((await account.message(messageIdOf(answer))).metadata).toEqual(metadata)
    }
  })

  test('priority accepts a value of any type, and changes nothing about the message', async () => {
    const send = async (options: object) => {
      const answer = await account.send({ to: '+12025550100', text: 'Hello', options })
      expect(answer.status, answer.text).toBe(200)
      const {
        id,
        requestId,
        messageId,
        usageId,
        providerMessageId,
        sentAt,
        createdAt,
        timeline,
        ...message
      } = await account.message(messageIdOf(answer))
      return message
    }
    const plain = await send({})
    for (const priority of Object.values(VALUES)) expect(await send({ priority })).toEqual(plain)
  })
})

describe('a value over its limit is rejected with the path of its field', () => {
  test.each(named(STRINGS.filter(field => field.most !== undefined)))('%s', async (path, field) => {
    // Characters are code points: an emoji counts as one, although it has two UTF-16 code units.
    for (const character of ['x', '😀'])
      await invalidAt(account, bodyWith(field, character.repeat(field.most! + 1)), path)
  })

  test.each([
    [{ variablesIndexed: new Array(101).fill('x') }, 'template.variablesIndexed'],
    [{ buttonVariables: new Array(11).fill({ index: 0, text: 'x' }) }, 'template.buttonVariables'],
    [{ buttonVariables: [{ index: -1, text: 'x' }] }, 'template.buttonVariables[0].index'],
  ])('a list that is too long or a number out of range: %#', async (template, path) => {
    await invalidAt(account, { to: '+12025550100', template: { id: 'tpl_1', ...template } }, path)
  })

  test('metadata of more than 16,384 characters', async () => {
    const body = (length: number) => ({
      to: '+12025550100',
      text: 'Hello',
      options: { metadata: 'x'.repeat(length - 2) },
    })
    await invalidAt(account, body(16_385), 'options.metadata')
    expect((await account.send(body(16_384))).status).toBe(200)
  })
})

describe('invalid or ambiguous text is rejected', () => {
  test.each(named(STRINGS))('NUL and lone surrogates in %s', async (path, field) => {
    const text = JSON.stringify(bodyWith(field, '§'))
    const broken = ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00a', 'a\\ud83d']
    const bodies = broken.map(part => text.replace('§', part))
    await allInvalidAt(account, bodies, path)
  })

  test.each([
    ['a stray continuation byte', [0x80]],
    ['a byte that never occurs in UTF-8', [0xff]],
    ['a truncated UTF-8 sequence', [0xe2, 0x82]],
    ['an overlong encoding of a slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
  ])('%s', async (_, bytes) => {
    const [head, tail] = JSON.stringify({ to: '+12025550100', text: '§' }).split('§') as [string, string]
    await unreadable(account, Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]))
  })

  test.each([
    ['{"to":"+12025550100","text":"a","text":"b"}', 'text'],
    ['{"to":"+12025550100","text":"a","content":{"text":"a","te\\u0078t":"b"}}', 'content.text'],
    ['{"to":"+12025550100","to":"+12025550101","text":"a"}', 'to'],
    ['{"to":"+12025550100","text":"a","__proto__":{"channel":"fax"}}', '__proto__'],
    ['{"to":"+12025550100","text":"a","options":{"metadata":{"__proto__":1}}}', 'options.metadata.__proto__'],
    ['{"to":"+12025550100","text":"a","constructor":{"prototype":{}}}', 'constructor'],
    ['{"to":"+12025550100","text":"a","options":{"metadata":1e999}}', 'options.metadata'],
  ])('%s', async (text, path) => {
    await invalidAt(account, text, path)
  })

  test.each([
    ['arrays', `{"to":"+12025550100","text":"a","options":{"metadata":${'['.repeat(40)}${']'.repeat(40)}}}`],
    ['objects', `{"to":"+12025550100","text":"a","x":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`],
  ])('%s that are nested too deep', async (_, text) => {
    await unreadable(account, text)
  })
})

describe('a body that is not an object', () => {
  test.each(['', 'null', '[]', '"to"', '1', 'true'])('is rejected: %s', async text => {
    await invalidAt(account, text, '')
  })

  test.each(['{', '{"to":}', "{'to':'x'}", '{"to":"+12025550100"} x'])(
    'leaves its idempotency key free when it is not JSON either: %s',
    async text => {
      await unreadable(account, text)
    },
  )

  test('conflicts with another one under the same idempotency key', async () => {
    for (const [first, second] of [
      ['1', '2'],
      ['true', 'false'],
      ['null', '0'],
    ]) {
      const options = { idempotencyKey: `no object ${first}` }
      expect((await account.send(first, options)).status).toBe(400)
      const other = await account.send(second, options)
      expect([first, other.status, other.body['code']]).toEqual([first, 409, 'IDEMPOTENCY_KEY_CONFLICT'])
    }
  })
})

describe('lenient validation', () => {
  test('unknown fields are accepted at any level', async () => {
    const body = {
      to: '+12025550100',
      colour: 'red',
      content: { text: 'Hello', font: ['serif'] },
      options: { retries: 3 },
    }
    expect((await account.send(body)).status).toBe(200)
  })

  test('null for an optional field is the same as its absence', async () => {
    const optional = FIELDS.filter(({ at }) => at.length === 1 && at[0] !== 'to').map(
      ({ at }) => at[0] as string,
    )
    const nulls = Object.fromEntries(optional.map(name => [name, null]))
    const body = { ...nulls, to: '+12025550100', content: { text: 'Hello', otpCode: null, subject: null } }
    expect((await account.send(body)).status).toBe(200)
  })

  test('several faults are reported together', async () => {
    await invalidAt(account, { channel: 'fax', content: { text: 7 } }, 'to', 'channel', 'content.text')
  })
})
