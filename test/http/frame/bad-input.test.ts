import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoRoutes } from './demo.ts'
import { type Frame, KEY, sendRaw, startFrame } from './frame.ts'

const seen = { handlers: 0 }
let frame: Frame
beforeAll(async () => {
  frame = await startFrame({ routes: demoRoutes(seen) })
})
afterAll(() => frame.close())

const WRONG = { string: 'x', number: 1.5, boolean: true, array: [1], object: { a: 1 } }

describe('a body that does not match the schema of its route', () => {
  it.each([
    ['{}', 'to', 'is required'],
    ['{"to":null}', 'to', 'is required'],
    ['{"to":1}', 'to', 'must be a string or an array'],
    ['{"to":""}', 'to', 'must not be empty'],
    ['{"to":[]}', 'to', 'must not be empty'],
    ['{"to":["a",2]}', 'to[1]', 'must be a string'],
    ['{"to":["a",null]}', 'to[1]', 'must be a string'],
    [`{"to":${JSON.stringify('x'.repeat(321))}}`, 'to', 'must have at most 320 characters'],
    [`{"to":${JSON.stringify(new Array(101).fill('a'))}}`, 'to', 'must have at most 100 items'],
    ['{"to":"a","channel":"fax"}', 'channel', 'must be one of auto, local_sms, email_user'],
    ['{"to":"a","count":"1"}', 'count', 'must be an integer'],
    ['{"to":"a","count":1.5}', 'count', 'must be an integer'],
    ['{"to":"a","count":0}', 'count', 'must be at least 1'],
    ['{"to":"a","count":11}', 'count', 'must be at most 10'],
    ['{"to":"a","price":0}', 'price', 'must be greater than 0'],
    ['{"to":"a","flag":1}', 'flag', 'must be a boolean'],
    ['{"to":"a","flag":"true"}', 'flag', 'must be a boolean'],
    ['{"to":"a","content":[]}', 'content', 'must be an object'],
    ['{"to":"a","content":{"text":{}}}', 'content.text', 'must be a string'],
    ['{"to":"a","template":{}}', 'template.id', 'is required'],
    [
      '{"to":"a","template":{"id":"t","variablesNamed":{"1":1}}}',
      'template.variablesNamed["1"]',
      'must be a string',
    ],
    [
      '{"to":"a","template":{"id":"t","buttons":[{"index":0},{"index":-1}]}}',
      'template.buttons[1].index',
      'must be at least 0',
    ],
    [
      '{"to":"a","options":{"scheduleAt":"tomorrow"}}',
      'options.scheduleAt',
      'must be an ISO 8601 time with its offset, such as 2030-01-31T09:30:00Z',
    ],
    ['{"to":"a","sender":{"id":7}}', 'sender.id', 'must be a string'],
    ['{"to":"a","sender":[1,"b"]}', 'sender[1]', 'must be an integer'],
    ['{"to":"a","sender":"me"}', 'sender', 'must be one of platform'],
    ['[]', '', 'must be an object'],
    ['"x"', '', 'must be an object'],
    ['1', '', 'must be an object'],
    ['null', '', 'a JSON body is required'],
    ['', '', 'a JSON body is required'],
    ['{"to":', '', 'must be complete, well-formed JSON'],
    ['{"to":"a","to":"b"}', 'to', 'must be given once only'],
    ['{"to":"a\\u0000b"}', 'to', 'must not contain NUL characters'],
    ['{"to":"\\ud800"}', 'to', 'must not contain lone surrogates'],
    ['{"to":"a","__proto__":{"flag":true}}', '__proto__', 'is not allowed as a key'],
    ['{"to":"a","constructor":{"prototype":{}}}', 'constructor', 'must not hold a prototype'],
    ['{"to":"a","count":1e999}', 'count', 'is too large a number'],
    [`{"to":"a","x":${'['.repeat(40)}${']'.repeat(40)}}`, '', 'must not be nested deeper than 32 levels'],
  ])('%s is rejected at path %j', async (body, path, message) => {
    const before = seen.handlers
    const answer = await frame.call('POST', '/demo/echo', { body })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      success: false,
      code: 'VALIDATION_ERROR',
      details: [{ path, message }],
    })
    expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'))
    expect(seen.handlers).toBe(before)
  })

  it.each(
    (['to', 'channel', 'count', 'flag', 'content', 'template', 'options'] as const).flatMap(field =>
      Object.entries(WRONG).map(([type, value]) => [field, type, value] as const),
    ),
  )(
    'with field %s of type %s is rejected at that field unless its schema allows the type',
    async (field, type, value) => {
      const fits = {
        to: 'string array',
        flag: 'boolean',
        content: 'object',
        template: '',
        options: 'object',
      } as Record<string, string>
      const answer = await frame.call('POST', '/demo/echo', { body: { to: 'a', [field]: value } })
      if (fits[field]?.includes(type) && !(field === 'to' && type === 'array'))
        expect(answer.status).toBe(200)
      else {
        expect(answer.status).toBe(400)
        const [detail] = answer.body['details'] as { path: string }[]
        expect(detail!.path.startsWith(field)).toBe(true)
      }
    },
  )

  it.each([[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80]])(
    'is rejected when its bytes are not UTF-8: %j',
    async (...bytes) => {
      const body = Buffer.concat([Buffer.from('{"to":"'), Buffer.from(bytes), Buffer.from('"}')])
      const answer = await frame.call('POST', '/demo/echo', { body })
      expect(answer.status).toBe(400)
      expect(answer.body['details']).toEqual([{ path: '', message: 'must be encoded in UTF-8' }])
    },
  )

  it('gets all its errors in one response, up to twenty', async () => {
    const some = await frame.call('POST', '/demo/echo', { body: { channel: 'x', count: 'y' } })
    expect((some.body['details'] as { path: string }[]).map(detail => detail.path).sort()).toEqual([
      'channel',
      'count',
      'to',
    ])
    const many = await frame.call('POST', '/demo/echo', { body: { to: new Array(90).fill(1) } })
    expect(many.body['details']).toHaveLength(20)
  })

  it('gets its errors in the order of the schema', async () => {
    const answer = await frame.call('POST', '/demo/echo', {
      body: { to: 1, channel: 'fax', count: 0, flag: 1 },
    })
    const paths = (answer.body['details'] as { path: string }[]).map(({ path }) => path)
    expect(paths).toEqual(['to', 'channel', 'count', 'flag'])
  })

  it('is rejected with a short response when it is huge', async () => {
    const body = `{"to":[${'1,'.repeat(400_000)}1]}`
    const answer = await frame.call('POST', '/demo/echo', { body })
    expect(answer.status).toBe(400)
    expect(answer.text.length).toBeLessThan(3_000)
  })

  it('is rejected without closing the connection', async () => {
    const answer = await frame.call('POST', '/demo/echo', { body: '{"to"' })
    expect(answer.headers.get('connection')).toBe('keep-alive')
  })
})

describe('a valid body', () => {
  it('is accepted with unknown fields, which reach the handler', async () => {
    const answer = await frame.call('POST', '/demo/echo', { body: { to: 'a', colour: 'red' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ success: true, data: { body: { to: 'a', colour: 'red' } } })
  })

  it('has null optional fields removed, except inside metadata', async () => {
    const body = {
      to: 'a',
      channel: null,
      content: { text: null },
      template: null,
      options: { scheduleAt: null, metadata: { order: null, items: [null, { a: null }] } },
    }
    const answer = await frame.call('POST', '/demo/echo', { body })
    expect(answer.body['data']).toEqual({
      body: { to: 'a', content: {}, options: { metadata: { order: null, items: [null, { a: null }] } } },
    })
  })

  it.each([
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset=utf-8',
    'application/vnd.posthorn+json',
    'Application/JSON',
  ])('is accepted with the content type %s', async type => {
    const answer = await frame.call('POST', '/demo/echo', {
      body: '{"to":"a"}',
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(200)
  })

  it('is accepted up to the size limit of its route', async () => {
    const base64 = 'QUJD'.repeat(5 * 1024 * 1024)
    const answer = await frame.call('POST', '/demo/large', { body: { base64 } })
    expect(answer.body).toEqual({ size: base64.length })
  })
})

describe('a body that is not JSON or is too large', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'nonsense',
  ])('returns 415 with the content type %s', async type => {
    const answer = await frame.call('POST', '/demo/echo', {
      body: '{"to":"a"}',
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(415)
    expect(answer.body).toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      details: [{ path: 'Content-Type', message: 'must be application/json' }],
    })
  })

  it('returns 415 when it is compressed', async () => {
    const headers = { 'content-encoding': 'gzip' }
    const answer = await frame.call('POST', '/demo/echo', { body: '{"to":"a"}', headers })
    expect(answer.status).toBe(415)
    expect(answer.body['details']).toMatchObject([{ path: 'Content-Encoding' }])
  })

  it.each(['identity', 'Identity'])('is accepted with Content-Encoding %s', async encoding => {
    const headers = { 'content-encoding': encoding }
    expect((await frame.call('POST', '/demo/echo', { body: '{"to":"a"}', headers })).status).toBe(200)
  })

  it.each([
    ['text/plain', '{}', 415],
    ['application/json', '{"to"', 400],
    ['application/json', '{}', 200],
    ['application/json', '', 200],
    ['application/x-www-form-urlencoded', '', 200],
    ['text/plain', '', 200],
    ['nonsense', '', 200],
  ])('on a route that takes no body: %s %j returns %i', async (type, body, status) => {
    const answer = await frame.call('PUT', '/demo/items/a', { body, headers: { 'content-type': type } })
    expect(answer.status).toBe(status)
  })

  it.each([
    ['', '', 200],
    ['Content-Type: text/plain', '', 200],
    ['Content-Type: application/json', '', 200],
    ['Content-Type: nonsense\r\nExpect: 100-continue', '', 200],
    ['', '2\r\n{}\r\n', 415],
    ['Content-Type: text/plain', '2\r\n{}\r\n', 415],
    ['Content-Type: application/json', '2\r\n{}\r\n', 200],
  ])(
    'of undeclared length on a route that takes no body: %j, chunks %j, returns %i',
    async (type, pieces, status) => {
      const head = `Host: a\r\nX-API-Key: ${KEY}\r\n${type && `${type}\r\n`}Transfer-Encoding: chunked\r\n`
      const first = `PUT /demo/items/a HTTP/1.1\r\n${head}\r\n${pieces}0\r\n\r\n`
      const next = `GET /demo/items HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\nConnection: close\r\n\r\n`
      const answers = await sendRaw(frame.port, first + next)
      expect(answers.match(/HTTP\/1\.1 [2-5]\d+/g)).toEqual([`HTTP/1.1 ${status}`, 'HTTP/1.1 200'])
    },
  )

  it.each([
    ['/demo/echo', 1_048_576],
    ['/demo/large', 24 * 1_048_576],
  ])('returns 413 over the size limit of %s', async (path, limitBytes) => {
    const body = `{"to":"${'x'.repeat(limitBytes)}"}`
    const answer = await frame.call('POST', path, { body })
    expect(answer.status).toBe(413)
    expect(answer.body).toMatchObject({ success: false, code: 'PAYLOAD_TOO_LARGE' })
  })

  it.each([
    ['/demo/none', 404],
    ['/demo/items', 405],
  ])('that is large and sent to %s, which takes none, returns %i', async (path, status) => {
    const answer = await frame.call('PUT', path, { body: `"${'x'.repeat(1_048_576)}"` })
    expect(answer.status).toBe(status)
  })

  it.each([
    ['by its Content-Length', `Content-Length: ${4 * 1_048_576}\r\n\r\n${'x'.repeat(4 * 1_048_576)}`],
    [
      'while it arrives in chunks',
      `Transfer-Encoding: chunked\r\n\r\n400000\r\n${'x'.repeat(4 * 1_048_576)}\r\n0\r\n\r\n`,
    ],
  ])('rejected for its size %s is read to its end, and the connection stays usable', async (_, rest) => {
    const head = `Host: a\r\nX-API-Key: ${KEY}\r\n`
    const large = `POST /demo/echo HTTP/1.1\r\n${head}Content-Type: application/json\r\n${rest}`
    const next = `GET /demo/items HTTP/1.1\r\n${head}Connection: close\r\n\r\n`
    const answers = await sendRaw(frame.port, large + next)
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  })

  // Such a client sends all of its body before it reads: a connection that is cut meanwhile loses it the response.
  it.each([
    ['413', '/demo/echo HTTP/1.1', `X-API-Key: ${KEY}\r\nConnection: close`],
    ['413', '/demo/echo HTTP/1.0', `X-API-Key: ${KEY}`],
    ['401', '/demo/large HTTP/1.1', 'X-API-Key: wrong\r\nConnection: close'],
    ['404', '/demo/none HTTP/1.1', `X-API-Key: ${KEY}\r\nConnection: close`],
  ])(
    'rejected with %s (%s, %s) is read to its end before the connection closes',
    async (status, line, head) => {
      const bytes = 4 * 1_048_576
      const socket = connect({ port: frame.port, host: '127.0.0.1', allowHalfOpen: true })
      const closed = once(socket, 'close')
      const received = text(socket)
      socket.write(
        `POST ${line}\r\nHost: a\r\n${head}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
      )
      expect(await received).toMatch(
        new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\nconnection: close\\r\\n[^]*"success":false`, 'i'),
      )
      socket.end('x'.repeat(bytes))
      expect(await closed).toEqual([false])
    },
  )
})

describe('a query', () => {
  it('is converted where its schema says so, with defaults filled in', async () => {
    const answer = await frame.call('GET', '/demo/items?limit=7&deep=true&q=a+b%26c')
    expect(answer.body['data']).toEqual([{ limit: 7, deep: true, q: 'a b&c' }])
    const empty = await frame.call('GET', '/demo/items?unknown=1')
    expect(empty.body['data']).toEqual([{ limit: 50 }])
  })

  it.each([
    ['+12025550123', '+12025550123'],
    ['%2B12025550123', '+12025550123'],
    ['2030-01-31T09:00:00.5+01:00', '2030-01-31T09:00:00.5+01:00'],
    ['1+1', '1 1'],
    ['+a+b', ' a b'],
  ])('keeps the plus sign of phone numbers and times, and reads others as spaces: %s', async (text, read) => {
    const answer = await frame.call('GET', `/demo/items?q=${text}`)
    expect(answer.body['data']).toEqual([{ limit: 50, q: read }])
  })

  it.each([
    ['limit=0', 'limit', 'must be at least 1'],
    ['limit=501', 'limit', 'must be at most 500'],
    ['limit=1.5', 'limit', 'must be an integer'],
    ['limit=', 'limit', 'must be an integer'],
    ['limit=1e2', 'limit', 'must be an integer'],
    ['limit=1&limit=2', 'limit', 'must be given once only'],
    ['deep=yes', 'deep', 'must be a boolean'],
    ['status=lost', 'status', 'must be one of sent, failed'],
    ['q=%00', 'q', 'must not contain NUL characters'],
    ['q%00=1', '', 'the query must not contain NUL characters'],
    ['q=%ff', 'q', 'must be percent-encoded UTF-8'],
    ['q=%ed%a0%80', 'q', 'must be percent-encoded UTF-8'],
    ['q=%', 'q', 'must be percent-encoded UTF-8'],
    ['%zz=1', '', 'the query must be percent-encoded UTF-8'],
    [`q=${'x'.repeat(51)}`, 'q', 'must have at most 50 characters'],
  ])('%s is rejected at path %j', async (query, path, message) => {
    const answer = await frame.call('GET', `/demo/items?${query}`)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path, message }] })
  })

  it('cannot set prototype properties', async () => {
    const answer = await frame.call('GET', '/demo/items?__proto__=x&constructor=y&hasOwnProperty=z')
    expect(answer.status).toBe(200)
    expect(answer.body['data']).toEqual([{ limit: 50 }])
  })
})

describe('a path parameter', () => {
  it.each(['%00', 'a%00b', 'x'.repeat(41), 'x'.repeat(300), 'a%2Fb', '%F0%9F%98%80'])(
    'that cannot be an id returns 404: %s',
    async id => {
      const answer = await frame.call('GET', `/demo/items/${id}`)
      expect(answer.status).toBe(404)
      expect(answer.body['code']).toBe('NOT_FOUND')
    },
  )

  it.each(['%', '%ff', '%zz'])('that is not percent-encoded UTF-8 returns 400: %s', async id => {
    const answer = await frame.call('GET', `/demo/items/${id}`)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, code: 'VALIDATION_ERROR' })
    expect(answer.headers.get('x-request-id')).toBe(answer.body['requestId'])
  })
})

describe('validation errors of a route that handles them itself', () => {
  it('reach the handler, including those of an unreadable body', async () => {
    const wrong = await frame.call('POST', '/demo/handed-over', { body: { to: 1 } })
    expect(wrong.body).toEqual({ fault: [{ path: 'to', message: 'must be a string or an array' }] })
    const broken = await frame.call('POST', '/demo/handed-over', { body: '{"to":' })
    expect(broken.body).toEqual({ fault: [{ path: '', message: 'must be complete, well-formed JSON' }] })
    const right = await frame.call('POST', '/demo/handed-over', { body: { to: 'a' } })
    expect(right.body).toEqual({ fault: null })
  })

  it('include those of declared headers, spelled as declared', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(201) }
    const answer = await frame.call('POST', '/demo/handed-over', { body: { to: 'a' }, headers })
    expect(answer.body).toEqual({
      fault: [{ path: 'Idempotency-Key', message: 'must have at most 200 characters' }],
    })
  })
})
