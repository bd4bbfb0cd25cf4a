import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { readBulkBody } from '../../src/http/bulk-body.ts'
import { discardRest } from '../../src/http/discard-rest.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const LIMITS = { mostBytes: 1_000_000, mostMessageBytes: 100_000, timeoutMs: 3_600_000 }

/** A request body that the test writes, and the pieces that are read from it. */
function start() {
  const clock = createFakeClock()
  const body = new PassThrough()
  const request = Object.assign(body, { headers: {}, socket: new Socket() }) as unknown as IncomingMessage
  return { clock, body, pieces: readBulkBody(request, LIMITS, clock) }
}

test('time spent on processing a piece does not count towards the read timeout', async () => {
  const { clock, body, pieces } = start()
  body.write('{"messagesPerSecond": 5, ')
  await pieces.next()
  await clock.advance(60_000)
  body.end('"messages": []}')
  expect((await pieces.next()).value).toMatchObject({ parts: [{ kind: 'messages' }] })
  expect((await pieces.next()).done).toBe(true)
})

test('a body that arrives at one byte per second times out after half a minute', async () => {
  const { clock, body, pieces } = start()
  const reading = (async () => {
    for await (const piece of pieces) expect(piece.bytes).toBe(1)
  })()
  reading.catch(() => {})
  let timedOut = false
  reading.catch(() => {
    timedOut = true
  })
  body.write('{')
  for (let seconds = 0; seconds < 29; seconds++) {
    await clock.advance(1_000)
    body.write(' ')
  }
  expect(timedOut).toBe(false)
  await clock.advance(2_000)
  await expect(reading).rejects.toMatchObject({ problem: { code: 'REQUEST_TIMEOUT' } })
})

test('a body that keeps arriving fast enough is read for minutes without a timeout', async () => {
  const { clock, body, pieces } = start()
  const reading = (async () => {
    let bytes = 0
    for await (const piece of pieces) bytes += piece.bytes
    return bytes
  })()
  body.write('{"messagesPerSecond": 5,')
  for (let minutes = 0; minutes < 20; minutes++) {
    await clock.advance(29_000)
    body.write(' '.repeat(20_000))
  }
  body.end('"messages": []}')
  expect(await reading).toBeGreaterThan(400_000)
})

test('the rest of a rejected body is discarded up to the limit of the first discardRest call', async () => {
  const { body, pieces } = start()
  body.write('{"messagesPerSecond": 5, ')
  await pieces.next()
  await pieces.return(undefined)
  const request = body as unknown as IncomingMessage
  discardRest(request, 100_000)
  discardRest(request, 1_000)
  body.write('x'.repeat(90_000))
  await once(body, 'drain')
  expect(body.destroyed).toBe(false)
  body.write('x'.repeat(20_000))
  await once(body, 'close')
})

test('an error inside a member is reported with its full path', async () => {
  const { body, pieces } = start()
  body.end('{"name": [{"a": 1, "a": 2}], "messages": []}')
  await expect(pieces.next()).rejects.toMatchObject({ problem: { details: [{ path: 'name[0].a' }] } })
})

const DEEP = `${'['.repeat(32)}${']'.repeat(32)}`

test.each([
  ['malformed JSON', '{"to": "+1",}', 'must be well-formed JSON; the fault is at character 12'],
  ['too deep nesting', `{"to": "+1", "options": ${DEEP}}`, 'must not be nested deeper than 32 levels'],
  ['another encoding', Buffer.from('{"to": "\xe9"}', 'latin1'), 'must be encoded in UTF-8'],
])('a body is refused for the message with the fault, however far behind: %s', async (_, faulty, message) => {
  const { body, pieces } = start()
  const items = '{"to": "+12025552000", "text": "[\\"],"},\n'.repeat(300)
  body.write(`{"messagesPerSecond": 5, "messages": [${items}`)
  await pieces.next()
  body.end(Buffer.concat([items, faulty, ', {"to": "+1"}]}'].map(part => Buffer.from(part))))
  await expect(pieces.next()).rejects.toMatchObject({
    problem: { code: 'INVALID_REQUEST_BODY', details: [{ path: 'messages[600]', message }] },
  })
})

test('malformed JSON in a field is reported with its place in the value of that field', async () => {
  const { body, pieces } = start()
  body.end('{"messages": [{"to": "+1"}], "messagesPerSecond": 05}')
  const message = 'must be well-formed JSON; the fault is at character 1'
  await expect(pieces.next()).rejects.toMatchObject({
    problem: { details: [{ path: 'messagesPerSecond', message }] },
  })
})
