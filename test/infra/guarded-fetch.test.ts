import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { isPublicAddress, parseAllowedHost } from '../../src/infra/guarded-fetch/target.ts'
import {
  createGuardedFetch,
  type GuardedFetch,
  GuardedFetchError,
  type GuardedFetchOptions,
  type GuardedRequest,
} from '../../src/infra/guarded-fetch.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createCertificate } from '../support/certificate.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(closers.splice(0).map(close => close()))
})

/** A server on the loopback interface; resolves to its port. */
async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    const closed = once(server, 'close')
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
    return closed
  })
  return (server.address() as AddressInfo).port
}

const serve = (answer: RequestListener) => listen(createServer(answer))

function client(options: Partial<GuardedFetchOptions> = {}) {
  return createGuardedFetch({
    allowPrivateHosts: ['127.0.0.1'],
    clock: systemClock,
    maxBytes: 10_000,
    timeoutMs: 20_000,
    ...options,
  })
}

const request = (url: string, more: Partial<GuardedRequest> = {}): GuardedRequest => ({
  url,
  signal: new AbortController().signal,
  ...more,
})

/** The error of a promise that must reject with a GuardedFetchError. */
async function faultOf(work: Promise<unknown>): Promise<GuardedFetchError> {
  const fault = await work.then(
    () => null,
    (error: unknown) => error,
  )
  expect(fault).toBeInstanceOf(GuardedFetchError)
  return fault as GuardedFetchError
}

describe('check(), for URLs that a user gives', () => {
  const strict = client({ allowPrivateHosts: [] })

  test.each([
    'https://example.com/hook',
    'https://example.com:8443/a?b=c#d',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]/',
    'https://bücher.example/',
    'https://localhost.example.com/',
    'https://example.com./',
  ])('accepts %s', url => expect(strict.check(url)).toBeNull())

  test.each([
    ['loopback', 'https://127.0.0.1/'],
    ['loopback, decimal', 'https://2130706433/'],
    ['loopback, hex', 'https://0x7f000001/'],
    ['loopback, hex parts', 'https://0x7f.0x0.0x0.0x1/'],
    ['loopback, octal', 'https://0177.0.0.01/'],
    ['loopback, one octal number', 'https://017700000001/'],
    ['loopback, two parts', 'https://127.1/'],
    ['loopback, three parts', 'https://127.0.1/'],
    ['loopback, mixed', 'https://0x7f.1/'],
    ['loopback, trailing dot', 'https://127.0.0.1./'],
    ['loopback, full-width', 'https://１２７.０.０.１/'],
    ['loopback, circled', 'https://①②⑦.⓪.⓪.①/'],
    ['loopback, ideographic stops', 'https://127。0。0。1/'],
    ['loopback, percent-encoded', 'https://%31%32%37.0.0.1/'],
    ['loopback, backslashes', 'https:\\\\127.0.0.1\\'],
    ['loopback, tabs inside', 'https://127.0.\t0.1/'],
    ['another loopback', 'https://127.255.255.254/'],
    ['unspecified', 'https://0.0.0.0/'],
    ['unspecified, short', 'https://0/'],
    ['this network', 'https://0.1.2.3/'],
    ['private 10', 'https://10.1.2.3/'],
    ['private 172.16', 'https://172.16.0.1/'],
    ['private 172.31', 'https://172.31.255.255/'],
    ['private 192.168', 'https://192.168.1.1/'],
    ['link-local, cloud metadata', 'https://169.254.169.254/latest/meta-data'],
    ['carrier-grade NAT', 'https://100.64.0.1/'],
    ['benchmarking', 'https://198.18.0.1/'],
    ['documentation', 'https://203.0.113.9/'],
    ['protocol assignments', 'https://192.0.0.8/'],
    ['6to4 relay', 'https://192.88.99.1/'],
    ['multicast', 'https://224.0.0.1/'],
    ['reserved', 'https://240.0.0.1/'],
    ['broadcast', 'https://255.255.255.255/'],
    ['IPv6 loopback', 'https://[::1]/'],
    ['IPv6 loopback, long', 'https://[0000:0000:0000:0000:0000:0000:0000:0001]/'],
    ['IPv6 unspecified', 'https://[::]/'],
    ['IPv4-mapped', 'https://[::ffff:127.0.0.1]/'],
    ['IPv4-mapped, hex', 'https://[::ffff:a00:1]/'],
    ['IPv4-compatible', 'https://[::127.0.0.1]/'],
    ['IPv4-translated', 'https://[::ffff:0:127.0.0.1]/'],
    ['NAT64', 'https://[64:ff9b::127.0.0.1]/'],
    ['NAT64, local prefix', 'https://[64:ff9b:1::10.0.0.1]/'],
    ['6to4', 'https://[2002:7f00:1::]/'],
    ['Teredo', 'https://[2001:0:1::1]/'],
    ['unique local', 'https://[fd00::1]/'],
    ['IPv6 link-local', 'https://[fe80::1]/'],
    ['IPv6 link-local with a zone', 'https://[fe80::1%25eth0]/'],
    ['site-local', 'https://[fec0::1]/'],
    ['IPv6 multicast', 'https://[ff02::1]/'],
    ['IPv6 documentation', 'https://[2001:db8::1]/'],
    ['IPv6 documentation, new', 'https://[3fff::1]/'],
    ['discard', 'https://[100::1]/'],
    ['segment routing', 'https://[5f00::1]/'],
    ['unassigned', 'https://[4000::1]/'],
    ['localhost', 'https://localhost/'],
    ['localhost, any case', 'https://LocalHost/'],
    ['localhost, trailing dot', 'https://localhost./'],
    ['subdomain of localhost', 'https://a.localhost/'],
    ['localhost, full-width', 'https://ｌocalhost/'],
  ])('rejects %s: %s', (_name, url) => expect(strict.check(url)).toMatch(/public address|not valid/))

  test.each([
    ['http', 'http://example.com/', /https/],
    ['another scheme', 'ftp://example.com/', /https/],
    ['file', 'file:///etc/passwd', /https/],
    ['data', 'data:text/plain,hi', /https/],
    ['credentials', 'https://user:secret@example.com/', /user name or password/],
    ['a user name alone', 'https://user@example.com/', /user name or password/],
    ['a password alone', 'https://:secret@example.com/', /user name or password/],
    ['not a URL', 'example.com/hook', /not valid/],
    ['empty', '', /not valid/],
    ['a space in front', ' https://example.com/a.png', /not valid: it has spaces/],
    ['a space behind', 'https://example.com/a.png ', /not valid: it has spaces/],
    ['a line break behind', 'https://example.com/a.png\n', /not valid: .* control characters/],
    ['a tab inside', 'https://exa\tmple.com/a.png', /not valid: .* control characters/],
    ['too long', `https://example.com/${'a'.repeat(2_048)}`, /longer than 2048/],
  ])('rejects a URL with the fault: %s', (_name, url, reason) => expect(strict.check(url)).toMatch(reason))

  test('never repeats the URL in the reason', () => {
    expect(strict.check('https://user:hunter2@example.com/')).not.toContain('hunter2')
  })

  test('accepts a URL of 2048 characters', () => {
    const url = `https://example.com/${'a'.repeat(2_048 - 'https://example.com/'.length)}`
    expect(strict.check(url)).toBeNull()
  })

  test('rejects a private IPv4 address in every spelling', () => {
    const octet = fc.nat(255)
    const address = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
      fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
    )
    const radix = fc.constantFrom(8, 10, 16)
    fc.assert(
      fc.property(
        address,
        fc.integer({ min: 1, max: 4 }),
        fc.array(radix, { minLength: 4, maxLength: 4 }),
        (octets, parts, radixes) => {
          const numbers: number[] = octets.slice(0, parts - 1)
          numbers.push(octets.slice(parts - 1).reduce((sum, one) => sum * 256 + one, 0))
          const host = numbers.map((one, at) => spell(one, radixes[at]!)).join('.')
          expect(strict.check(`https://${host}/`)).toMatch(/public address/)
        },
      ),
    )
  })

  function spell(value: number, radix: number): string {
    return `${radix === 8 ? '0' : radix === 16 ? '0x' : ''}${value.toString(radix)}`
  }
})

describe('allowPrivateHosts', () => {
  test('allows exactly the listed hosts, also over http', () => {
    const guarded = client({
      allowPrivateHosts: ['10.0.0.5', 'crm.internal:8080', '[fd00::1]:9000', '::1', 'LOCALHOST'],
    })
    expect(guarded.check('http://10.0.0.5:1234/')).toBeNull()
    expect(guarded.check('https://10.0.0.5/')).toBeNull()
    expect(guarded.check('http://0xa000005/')).toBeNull()
    expect(guarded.check('http://crm.internal:8080/')).toBeNull()
    expect(guarded.check('http://crm.internal.:8080/')).toBeNull()
    expect(guarded.check('http://[fd00::1]:9000/')).toBeNull()
    expect(guarded.check('http://[::1]:5/')).toBeNull()
    expect(guarded.check('http://localhost/')).toBeNull()
    for (const url of [
      'http://10.0.0.6/',
      'http://crm.internal/',
      'http://crm.internal:8081/',
      'http://a.crm.internal:8080/',
      'http://[fd00::1]/',
      'http://a.localhost/',
      'ftp://10.0.0.5/',
      'http://u:p@10.0.0.5/',
    ]) {
      expect(guarded.check(url), url).not.toBeNull()
    }
  })

  test.each(['*', '*.internal', '', 'http://10.0.0.5', '10.0.0.0/8', 'a b', 'host:99999', 'user@host'])(
    'rejects the entry %j',
    entry => expect(() => parseAllowedHost(entry)).toThrow(/is not a host/),
  )
})

describe('DNS names', () => {
  test.each([
    ['a private address', ['10.0.0.1']],
    ['loopback', ['127.0.0.1']],
    ['a public and a private one', ['1.1.1.1', '192.168.0.1']],
    ['a public and a mapped private one', ['1.1.1.1', '::ffff:10.0.0.1']],
    ['an address with a zone', ['fe80::1%eth0']],
    ['an invalid address', ['not an address']],
  ])('a name that resolves to %s is blocked without a request', async (_name, addresses) => {
    let hits = 0
    const port = await serve((_request, response) => {
      hits++
      response.end()
    })
    const guarded = client({ resolve: async () => addresses })
    const fault = await faultOf(guarded.fetch(request(`https://rebind.example:${port}/`)))
    expect(fault).toMatchObject({ reason: 'blocked', retryable: false, sentBytes: false })
    expect(hits).toBe(0)
  })

  test('a name is resolved once, and the connection uses that address', async () => {
    const seen: (string | undefined)[] = []
    const port = await serve((incoming, response) => {
      seen.push(incoming.headers.host)
      response.end('pinned')
    })
    const asked: string[] = []
    const guarded = client({
      allowPrivateHosts: ['service.invalid'],
      resolve: async host => {
        asked.push(host)
        return asked.length === 1 ? ['127.0.0.1'] : ['127.9.9.9']
      },
    })
    // `.invalid` never resolves: reaching the server proves that no other resolver was used.
    const response = await guarded.fetch(request(`http://service.invalid:${port}/`))
    expect(await response.text(100)).toBe('pinned')
    expect(asked).toEqual(['service.invalid'])
    expect(seen).toEqual([`service.invalid:${port}`])
  })

  test('an unknown name is not retryable, a failing name server is', async () => {
    const failing = (code: string) =>
      client({ resolve: () => Promise.reject(Object.assign(new Error(code), { code })) })
    const gone = await faultOf(failing('ENOTFOUND').fetch(request('https://gone.example/')))
    expect(gone).toMatchObject({ reason: 'unresolvable', retryable: false, sentBytes: false })
    const silent = await faultOf(failing('ESERVFAIL').fetch(request('https://silent.example/')))
    expect(silent).toMatchObject({ reason: 'unresolvable', retryable: true, sentBytes: false })
    const empty = await faultOf(client({ resolve: async () => [] }).fetch(request('https://empty.example/')))
    expect(empty.reason).toBe('unresolvable')
  })

  test('a resolver that never answers ends in a timeout', async () => {
    const clock = createFakeClock()
    const guarded = client({ clock, resolve: () => new Promise(() => {}) })
    const fault = faultOf(guarded.fetch(request('https://slow.example/', { timeoutMs: 1_000 })))
    await clock.advance(1_000)
    expect(await fault).toMatchObject({ reason: 'timeout', retryable: true, sentBytes: false })
    expect(clock.pending()).toBe(0)
  })

  test('special address ranges are recognised up to their boundaries', () => {
    for (const address of [
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '223.255.255.255',
    ])
      expect(isPublicAddress(address), address).toBe(true)
    for (const address of [
      '100.64.0.0',
      '100.127.255.255',
      '172.16.0.0',
      '172.31.255.255',
      '224.0.0.0',
      '255.255.255.254',
    ])
      expect(isPublicAddress(address), address).toBe(false)
  })
})

describe('redirects', () => {
  test('are followed at most three times, to the same scheme, host and port', async () => {
    const paths: string[] = []
    const port = await serve((incoming, response) => {
      paths.push(incoming.url!)
      const left = Number(incoming.url!.slice(1))
      if (left === 0) return response.end('there')
      response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const guarded = client()
    const response = await guarded.fetch(request(`http://127.0.0.1:${port}/3`))
    expect(await response.text(100)).toBe('there')
    expect(paths).toEqual(['/3', '/2', '/1', '/0'])
    const fault = await faultOf(guarded.fetch(request(`http://127.0.0.1:${port}/4`)))
    expect(fault).toMatchObject({ reason: 'redirect', retryable: false, sentBytes: true })
  })

  test('are refused to another scheme, host or port, for a request with a body, and with credentials', async () => {
    let elsewhere = 0
    const otherPort = await serve((_request, response) => {
      elsewhere++
      response.end()
    })
    let location = ''
    let posts = 0
    const port = await serve((incoming, response) => {
      if (incoming.method === 'POST') posts++
      response.writeHead(307, { location }).end()
    })
    const guarded = client()
    const from = `http://127.0.0.1:${port}/`
    for (location of [
      `http://127.0.0.1:${otherPort}/`,
      'http://10.0.0.1/',
      `https://127.0.0.1:${port}/`,
      'file:///etc/passwd',
      '',
    ]) {
      expect((await faultOf(guarded.fetch(request(from)))).reason, location).toBe('redirect')
    }
    location = '/same'
    const posted = await faultOf(guarded.fetch(request(from, { method: 'POST', body: '{}' })))
    expect([posted.reason, posts]).toEqual(['redirect', 1])
    location = `http://user:pass@127.0.0.1:${port}/`
    expect((await faultOf(guarded.fetch(request(from)))).reason).toBe('blocked')
    expect(elsewhere).toBe(0)
  })
})

describe('size limits', () => {
  test('rejects a response whose Content-Length is too large', async () => {
    const port = await serve(
      (_request, response) => void response.writeHead(200, { 'content-length': 10_001 }).flushHeaders(),
    )
    const fault = await faultOf(client().fetch(request(`http://127.0.0.1:${port}/`)))
    expect(fault).toMatchObject({ reason: 'too_large', retryable: false })
  })

  test('aborts a body that grows too large', async () => {
    let written = 0
    const port = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000))) written += 1_000
      }
      response.on('drain', more).writeHead(200)
      more()
    })
    const response = await client().fetch(request(`http://127.0.0.1:${port}/`))
    const sizes: number[] = []
    const fault = await faultOf(
      (async () => {
        for await (const chunk of response.body) sizes.push(chunk.length)
      })(),
    )
    expect(fault.reason).toBe('too_large')
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(10_000)
    expect(written).toBeGreaterThan(0)
  })

  test('accepts a body of exactly the limit', async () => {
    const port = await serve((_request, response) => void response.end('x'.repeat(10_000)))
    const response = await client().fetch(request(`http://127.0.0.1:${port}/`))
    expect((await response.text(20_000)).length).toBe(10_000)
  })

  test('applies the smaller one of the limits of a request and of the client', async () => {
    const port = await serve((_request, response) => void response.end('12345'))
    const url = `http://127.0.0.1:${port}/`
    const own = await faultOf(client().fetch(request(url, { maxBytes: 4 })))
    const common = await faultOf(client({ maxBytes: 4 }).fetch(request(url, { maxBytes: 5 })))
    expect([own.reason, common.reason]).toEqual(['too_large', 'too_large'])
  })

  test('text() reads up to its limit and drops the rest', async () => {
    const port = await serve((_request, response) => void response.end('0123456789'.repeat(900)))
    const response = await client().fetch(request(`http://127.0.0.1:${port}/`))
    expect(await response.text(12)).toBe('012345678901')
    expect(response.body.destroyed).toBe(true)
  })

  test('neither requests nor decompresses an encoded body', async () => {
    const packed = gzipSync('a'.repeat(1_000_000))
    let asked: string | undefined
    const port = await serve((incoming, response) => {
      asked = incoming.headers['accept-encoding'] as string
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
    })
    const response = await client().fetch(
      request(`http://127.0.0.1:${port}/`, {
        headers: { 'accept-encoding': 'br', 'Accept-Encoding': 'gzip' },
      }),
    )
    const chunks: Buffer[] = []
    for await (const chunk of response.body) chunks.push(chunk)
    expect(asked).toBe('identity')
    expect(Buffer.concat(chunks)).toEqual(packed)
  })
})

describe('timeouts and cancellation', () => {
  test('times out when the response headers do not arrive', async () => {
    const clock = createFakeClock()
    const { promise: asked, resolve: arrived } = Promise.withResolvers<void>()
    const port = await serve(() => arrived())
    const fault = faultOf(client({ clock }).fetch(request(`http://127.0.0.1:${port}/`, { timeoutMs: 7_000 })))
    await asked
    await clock.advance(7_000)
    expect(await fault).toMatchObject({ reason: 'timeout', retryable: true, sentBytes: true })
    expect(clock.pending()).toBe(0)
  })

  test('times out when the body stops midway', async () => {
    const clock = createFakeClock()
    const port = await serve((_request, response) => void response.writeHead(200).write('half'))
    const response = await client({ clock }).fetch(request(`http://127.0.0.1:${port}/`, { timeoutMs: 7_000 }))
    const fault = faultOf(response.text(100))
    await clock.advance(7_000)
    expect(await fault).toMatchObject({ reason: 'timeout', sentBytes: true })
    expect(clock.pending()).toBe(0)
  })

  test('a timeout of a body that is not read causes no unhandled error', async () => {
    const clock = createFakeClock()
    const port = await serve((_request, response) => void response.writeHead(200).write('half'))
    const response = await client({ clock }).fetch(request(`http://127.0.0.1:${port}/`))
    const closed = new Promise<void>(resolve => response.body.once('close', resolve))
    await clock.advance(20_000)
    await closed
    expect(clock.pending()).toBe(0)
  })

  test('a TLS handshake that never ends times out with nothing sent', async () => {
    const clock = createFakeClock()
    const silent = createTcpServer(socket => socket.on('error', () => {}))
    const port = await listen(silent)
    const accepted = once(silent, 'connection')
    const fault = faultOf(client({ clock }).fetch(request(`https://127.0.0.1:${port}/`)))
    const [socket] = await accepted
    await clock.advance(5_000)
    expect(await fault).toMatchObject({ reason: 'timeout', retryable: true, sentBytes: false })
    socket.destroy()
  })

  test('the caller’s signal aborts a request, before it starts and while it runs', async () => {
    const { promise: asked, resolve: arrived } = Promise.withResolvers<void>()
    const port = await serve(() => arrived())
    const controller = new AbortController()
    const fault = faultOf(client().fetch(request(`http://127.0.0.1:${port}/`, { signal: controller.signal })))
    await asked
    controller.abort()
    expect(await fault).toMatchObject({ reason: 'timeout', sentBytes: true })
    const late = await faultOf(
      client().fetch(request(`http://127.0.0.1:${port}/`, { signal: controller.signal })),
    )
    expect(late).toMatchObject({ reason: 'timeout', sentBytes: false })
  })
})

describe('kept connections', () => {
  const IDLE_FOR_MS = 60_000

  /** A server that records the connections that it accepts. */
  async function serveCounted(answer: RequestListener) {
    const sockets: Socket[] = []
    const server = createServer(answer)
    server.on('connection', socket => sockets.push(socket))
    return { port: await listen(server), sockets }
  }

  const ok: RequestListener = (incoming, response) => {
    incoming.resume()
    response.end('ok')
  }

  /** Resolves when the connection is idle again, which it is once the response is read to its end. */
  async function ask(guarded: GuardedFetch, url: string, more: Partial<GuardedRequest> = {}) {
    const response = await guarded.fetch(
      request(url, { method: 'POST', body: 'x', repeatable: true, ...more }),
    )
    // Not `once`, which would also reject when the body is cut, as an unhandled rejection.
    const closed = new Promise(resolve => response.body.once('close', resolve))
    await response.text(1_000)
    await closed
    return response.status
  }

  test('repeatable requests share one connection and one name lookup, others do not', async () => {
    const { port, sockets } = await serveCounted(ok)
    let asked = 0
    const resolve = async () => {
      asked++
      return ['127.0.0.1']
    }
    const guarded = client({ allowPrivateHosts: ['kept.example'], resolve })
    for (let count = 0; count < 5; count++) await ask(guarded, `http://kept.example:${port}/`)
    expect([sockets.length, asked]).toEqual([1, 1])
    await ask(guarded, `http://kept.example:${port}/`, { repeatable: false })
    expect([sockets.length, asked]).toEqual([2, 2])
  })

  test('another name that resolves to the same address gets its own connection', async () => {
    const { port, sockets } = await serveCounted(ok)
    const guarded = client({
      allowPrivateHosts: ['one.example', 'two.example'],
      resolve: async () => ['127.0.0.1'],
    })
    await ask(guarded, `http://one.example:${port}/`)
    await ask(guarded, `http://two.example:${port}/`)
    expect(sockets).toHaveLength(2)
  })

  test('are replaced after a minute, with a new name lookup', async () => {
    const clock = createFakeClock()
    const { port, sockets } = await serveCounted(ok)
    const asked: number[] = []
    const guarded = client({
      clock,
      allowPrivateHosts: ['moving.example'],
      resolve: async () => {
        asked.push(clock.now())
        return ['127.0.0.1']
      },
    })
    await ask(guarded, `http://moving.example:${port}/`)
    await clock.advance(IDLE_FOR_MS)
    // The last request that finds the connection open; it is not kept after that.
    await ask(guarded, `http://moving.example:${port}/`)
    expect([sockets.length, asked.length]).toEqual([1, 1])
    await ask(guarded, `http://moving.example:${port}/`)
    expect([sockets.length, asked.length]).toEqual([2, 2])
  })

  test('a request on a connection that the server closes meanwhile is repeated once, on a new connection', async () => {
    let requests = 0
    const { port, sockets } = await serveCounted((incoming, response) => {
      requests++
      if (requests === 2) incoming.socket.resetAndDestroy()
      else ok(incoming, response)
    })
    const guarded = client()
    await ask(guarded, `http://127.0.0.1:${port}/`)
    expect(await ask(guarded, `http://127.0.0.1:${port}/`)).toBe(200)
    expect([requests, sockets.length]).toEqual([3, 2])
  })

  test('a request is not repeated when the connection breaks after the response headers', async () => {
    let requests = 0
    const { port } = await serveCounted((incoming, response) => {
      if (++requests === 1) return ok(incoming, response)
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => incoming.socket.resetAndDestroy())
    })
    const guarded = client()
    await ask(guarded, `http://127.0.0.1:${port}/`)
    const response = await guarded.fetch(request(`http://127.0.0.1:${port}/`, { repeatable: true }))
    expect((await faultOf(response.text(1_000))).reason).toBe('network')
    // A request repeated in the background would be counted before this one.
    await ask(guarded, `http://127.0.0.1:${port}/`).catch(() => {})
    expect(requests).toBe(3)
  })

  test('a request on a new connection that is cut fails without being repeated', async () => {
    let requests = 0
    const { port } = await serveCounted(incoming => {
      requests++
      incoming.socket.resetAndDestroy()
    })
    const fault = await faultOf(client().fetch(request(`http://127.0.0.1:${port}/`, { repeatable: true })))
    expect(fault).toMatchObject({ reason: 'network', sentBytes: true })
    expect(requests).toBe(1)
  })

  test('a response over a kept connection may take as long as over a new one', async () => {
    const clock = createFakeClock()
    const waiting = Promise.withResolvers<ServerResponse>()
    let requests = 0
    const { port } = await serveCounted((incoming, response) => {
      if (++requests === 1) ok(incoming, response)
      else waiting.resolve(response)
    })
    const guarded = client({ clock })
    await ask(guarded, `http://127.0.0.1:${port}/`)
    const slow = ask(guarded, `http://127.0.0.1:${port}/`)
    const response = await waiting.promise
    await clock.advance(14_000)
    response.end()
    expect(await slow).toBe(200)
    expect(clock.pending()).toBe(0)
  })

  test('a connection whose response body is abandoned is closed', async () => {
    const { port, sockets } = await serveCounted((incoming, response) => {
      incoming.resume()
      response.writeHead(200, { 'content-length': 5_000 })
      response.write('x')
    })
    const guarded = client()
    const response = await guarded.fetch(request(`http://127.0.0.1:${port}/`, { repeatable: true }))
    const closed = once(sockets[0]!, 'close')
    response.body.destroy()
    await closed
  })
})

describe('the connection', () => {
  test('a refused connection fails with nothing sent', async () => {
    const server = createTcpServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const fault = await faultOf(client().fetch(request(`http://127.0.0.1:${port}/`)))
    expect(fault).toMatchObject({ reason: 'network', retryable: true, sentBytes: false })
  })

  test.each([false, true])(
    'a response that switches protocols is a network error (repeatable: %s)',
    async repeatable => {
      const switching = createTcpServer(socket => {
        socket.on('error', () => {})
        socket.once('data', () =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'),
        )
      })
      const port = await listen(switching)
      const asked = request(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x', repeatable })
      const fault = await faultOf(client().fetch(asked))
      expect([fault.reason, fault.retryable, fault.sentBytes]).toEqual(['network', true, true])
    },
  )

  test('a connection cut after the request fails with bytes sent', async () => {
    const port = await serve(incoming => void incoming.socket.resetAndDestroy())
    const fault = await faultOf(
      client().fetch(request(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })),
    )
    expect(fault).toMatchObject({ reason: 'network', retryable: true, sentBytes: true })
  })

  test('a body that is cut fails as a network error', async () => {
    const port = await serve((_incoming, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => response.socket!.destroy())
    })
    const response = await client().fetch(request(`http://127.0.0.1:${port}/`))
    expect((await faultOf(response.text(1_000))).reason).toBe('network')
  })

  test('sends method, headers and body, and returns status, headers and body', async () => {
    let seen = {}
    const port = await serve(async (incoming, response) => {
      const chunks = await incoming.toArray()
      seen = {
        method: incoming.method,
        url: incoming.url,
        type: incoming.headers['content-type'],
        length: incoming.headers['content-length'],
        body: Buffer.concat(chunks).toString(),
      }
      response.writeHead(410, { 'x-a': ['1', '2'] }).end('gone')
    })
    const response = await client().fetch(
      request(`http://127.0.0.1:${port}/hook?a=%20b#c`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"ü":1}',
      }),
    )
    expect(seen).toEqual({
      method: 'POST',
      url: '/hook?a=%20b',
      type: 'application/json',
      length: '8',
      body: '{"ü":1}',
    })
    expect(response).toMatchObject({ status: 410, headers: { 'x-a': '1, 2' } })
    expect(await response.text(100)).toBe('gone')
  })

  test('ignores proxy settings of the environment', async () => {
    let proxied = 0
    const proxy = await serve((_incoming, response) => {
      proxied++
      response.end('proxy')
    })
    const port = await serve((_incoming, response) => void response.end('direct'))
    const { env } = process
    const settings = { HTTP_PROXY: `http://127.0.0.1:${proxy}`, NODE_USE_ENV_PROXY: '1' }
    const before = Object.keys(settings).map(name => [name, env[name]] as const)
    Object.assign(env, settings)
    try {
      const response = await client().fetch(request(`http://127.0.0.1:${port}/`))
      expect(await response.text(100)).toBe('direct')
      expect(proxied).toBe(0)
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete env[name]
        else env[name] = value
      }
    }
  })

  describe('TLS', () => {
    async function secure(names: string[], trusted: boolean) {
      const pair = createCertificate(names)
      const usual = getCACertificates('default')
      if (trusted) setDefaultCACertificates([...usual, pair.cert])
      closers.push(async () => setDefaultCACertificates(usual))
      const asked: (string | false | null)[] = []
      const port = await listen(
        createTlsServer(pair, (incoming, response) => {
          asked.push((incoming.socket as TLSSocket).servername)
          response.end('secure')
        }),
      )
      return { port, asked }
    }
    const resolving = () =>
      client({ allowPrivateHosts: ['service.invalid'], resolve: async () => ['127.0.0.1'] })

    test('checks the certificate against the name, not the resolved address', async () => {
      const { port, asked } = await secure(['service.invalid'], true)
      const response = await resolving().fetch(request(`https://service.invalid:${port}/`))
      expect(await response.text(100)).toBe('secure')
      expect(asked).toEqual(['service.invalid'])
    })

    test('rejects a certificate for another name before the request is sent', async () => {
      const { port, asked } = await secure(['other.invalid', '127.0.0.1'], true)
      const fault = await faultOf(resolving().fetch(request(`https://service.invalid:${port}/`)))
      expect(fault).toMatchObject({ reason: 'tls', retryable: false, sentBytes: false })
      expect(asked).toEqual([])
    })

    test('rejects a certificate from an untrusted issuer', async () => {
      const { port } = await secure(['service.invalid'], false)
      const fault = await faultOf(resolving().fetch(request(`https://service.invalid:${port}/`)))
      expect(fault).toMatchObject({ reason: 'tls', retryable: false, sentBytes: false })
    })

    test('reports a server that does not speak TLS as a TLS error', async () => {
      const port = await listen(
        createTcpServer(
          socket =>
            void socket
              .resume()
              .on('error', () => {})
              .end('220 hello\r\n'),
        ),
      )
      const fault = await faultOf(client().fetch(request(`https://127.0.0.1:${port}/`)))
      expect(fault).toMatchObject({ reason: 'tls', sentBytes: false })
    })
  })
})
