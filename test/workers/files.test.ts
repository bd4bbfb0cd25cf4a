import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { FileUnavailable } from '../../src/channels/provider.ts'
import { GuardedFetchError, type GuardedResponse } from '../../src/infra/guarded-fetch.ts'
import { createFileSources } from '../../src/workers/files.ts'

/** The file of a URL that responds with this body, and with 200 unless another status is given. */
function fetched(body: Readable, status = 200): Promise<NodeJS.ReadableStream> {
  const never = () => Promise.reject(new Error('nobody asks for this'))
  const response: GuardedResponse = { status, headers: {}, body, text: never }
  const sources = createFileSources({
    db: { query: never },
    guarded: { check: () => null, fetch: async () => response },
    media: { open: never },
  })
  return sources.fetched('https://example.com/a.png', new AbortController().signal)
}

async function* breakingOff(reason: 'too_large' | 'network', retryable: boolean): AsyncGenerator<Buffer> {
  yield Buffer.from('the beginning')
  throw new GuardedFetchError(reason, 'It broke off.', { retryable })
}

describe('a file that is fetched from a URL', () => {
  test('is passed on unchanged', async () => {
    const whole = await Array.fromAsync(await fetched(Readable.from([Buffer.from('a'), Buffer.from('b')])))
    expect(Buffer.concat(whole as Buffer[]).toString()).toBe('ab')
  })

  test.each([
    ['too_large', false],
    ['network', true],
  ] as const)(
    'whose download breaks off (%s) fails, with whether a retry may succeed',
    async (reason, retryable) => {
      const reading = Array.fromAsync(await fetched(Readable.from(breakingOff(reason, retryable))))
      const error = await reading.catch((error: unknown) => error)
      expect(error).toBeInstanceOf(FileUnavailable)
      expect(error).toMatchObject({ message: `the attachment could not be fetched: ${reason}`, retryable })
    },
  )

  test.each([
    [404, false],
    [410, false],
    [206, false],
    [408, true],
    [421, true],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
  ])(
    'with status %i fails, with whether a retry may succeed, and closes its body',
    async (status, retryable) => {
      const body = Readable.from([Buffer.from('a')])
      await expect(fetched(body, status)).rejects.toMatchObject({ name: 'FileUnavailable', retryable })
      expect(body.destroyed).toBe(true)
    },
  )

  test('closes its body when it is destroyed unread', async () => {
    const body = Readable.from([Buffer.from('a')])
    const closed = new Promise(resolve => body.once('close', resolve))
    const file = (await fetched(body)) as Readable
    file.destroy()
    await closed
  })
})
