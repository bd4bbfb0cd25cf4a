import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Link, Provider } from '../../src/channels/provider.ts'
import { createIo, never, outgoing, settled } from './conformance.ts'
import { type HttpFixture, SMS } from './http-fixture.ts'
import { twilioFixture } from './twilio.exchange.ts'
import { vonageFixture } from './vonage.exchange.ts'

/** The mock server for the providers' own OpenAPI documents. It is not in the lock file because of its size; .ci/run installs it. */
const PRISM =
  'npm install --ignore-scripts --prefix <dir> @stoplight/prism-cli@5.16.0, with <dir>/node_modules/.bin on the PATH'

type Prism = { url: string; stop(): Promise<void> }

const hasPrism = await canRun('prism')
if (!hasPrism) console.warn(`!!! Prism is not on the PATH, its tests are SKIPPED: ${PRISM}`)

describe.skipIf(!hasPrism)('against Prism, which refuses requests that violate the OpenAPI document', () => {
  // Twilio's schemas have patterns and no examples: generated values match them, static ones do not.
  describeOpenApi('twilio', twilioFixture, twilioFixture.configFor, ['--dynamic', '--seed', 'posthorn'])
  describeOpenApi('vonage', vonageFixture, vonageFixture.configFor)
})

function describeOpenApi<C>(
  name: string,
  { provider }: HttpFixture<C>,
  configFor: (url: string) => C,
  options: readonly string[] = [],
): void {
  describe(name, () => {
    let prism: Prism
    beforeAll(async () => {
      prism = await startPrism(new URL(`openapi/${name}.json`, import.meta.url), options)
    }, 60_000)
    afterAll(() => prism.stop())

    test('a send is accepted with the provider id of the response', async () => {
      for (const text of ['Hello', 'Привет 👋', 'x'.repeat(400)]) {
        const outcome = await sendTo(provider, configFor(prism.url), text)
        expect(outcome).toMatchObject({ kind: 'accepted', providerId: expect.stringMatching(/^\w+$/) })
      }
    })

    test('a request that violates the document is rejected, so Prism does validate', async () => {
      const outcome = await sendTo(provider, brokenOf(configFor(prism.url)), 'Hello')
      expect(outcome).toMatchObject({ kind: 'rejected', code: 'MESSAGE_REJECTED' })
    })
  })
}

/** A configuration with credentials whose form violates the OpenAPI document. */
function brokenOf<C>(config: C): C {
  return { ...config, accountSid: 'XX1', apiKey: 'much-too-long-for-a-key' }
}

async function sendTo<C>(provider: Provider<C>, config: C, text: string) {
  const link: Link = await provider.open(config, createIo())
  try {
    return await settled(link.send(outgoing(1, { ...SMS, text }), never()), 'send()')
  } finally {
    await link.close()
  }
}

async function startPrism(document: URL, options: readonly string[]): Promise<Prism> {
  const child = spawn(
    'prism',
    ['mock', '--errors', '-h', '127.0.0.1', '-p', '0', ...options, fileURLToPath(document)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const url = await listeningOf(child)
  return {
    url,
    async stop() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

/** The URL, which the last line of Prism's start-up output names. */
async function listeningOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1]
    if (url !== undefined) {
      // Prism logs every request, and would block on a full pipe.
      child.stdout!.resume()
      return url
    }
  }
  throw new Error('Prism ended before it listened')
}

async function canRun(command: string): Promise<boolean> {
  const child = spawn(command, ['--version'], { stdio: 'ignore' })
  return new Promise(resolve => {
    child.on('error', () => resolve(false))
    child.on('exit', code => resolve(code === 0))
  })
}
