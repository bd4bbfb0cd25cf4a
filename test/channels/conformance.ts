import { inspect } from 'node:util'
import { Compile } from 'typebox/compile'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type Inbound,
  type Io,
  type Link,
  type LinkState,
  type Outcome,
  type Outgoing,
  type Provider,
  REJECT_CODES,
} from '../../src/channels/provider.ts'
import { CHANNELS, MESSAGE_TYPES } from '../../src/contract/enums.ts'
import { backoffMs } from '../../src/lib/backoff.ts'
import { systemClock, withinMs } from '../../src/lib/clock.ts'
import { createRandom } from '../../src/lib/random.ts'

/**
 * The conformance suite that every provider must pass. A provider's own test file describes how its peer, the
 * remote server, simulates each behaviour, and calls `describeProvider`. The expected outcomes are defined here.
 */

/** How the peer behaves, and the outcomes that are correct then. */
export const EXPECTED = {
  /** Accepts everything at once. */
  accept: ['accepted'],
  /** Rejects the recipient or the message permanently, as its protocol does. */
  reject: ['rejected'],
  /** Reports that a rate limit is exceeded. */
  throttle: ['throttled', 'retry'],
  /** Reports a temporary failure explicitly. */
  'temporary-failure': ['retry', 'throttled'],
  /** Reads the whole submit and never responds. */
  silent: ['unknown'],
  /** Reads the whole submit, then resets the connection. */
  'reset-after-submit': ['unknown'],
  /** Nothing listens on the port. */
  'refuse-connection': ['retry'],
  /** Responds to the submit with bytes that are invalid in its protocol. */
  'garbage-answer': ['unknown'],
  /** Accepts the connection and never completes the handshake. */
  'slow-connect': ['retry'],
} as const satisfies Record<string, readonly Outcome['kind'][]>

export type Behaviour = keyof typeof EXPECTED

/** The peer, as the suite needs it. Every promise resolves on an event; none may wait for a fixed time. */
export type Peer = {
  /** Resolves once `count` connections were accepted in all. */
  connected(count: number): Promise<unknown>
  /** Resolves once `count` submits were read completely in all, whatever the response. */
  submitted(count: number): Promise<unknown>
  /** How many submits were read completely so far. */
  submits(): number
  /** Resolves when no connection of the link is open. */
  idle(): Promise<unknown>
  /** Makes the peer send something that the link passes to `io.emit`; absent for a peer that never does. */
  inbound?(): Promise<unknown>
  close(): Promise<unknown>
}

export type Fixture<C> = {
  provider: Provider<C>
  /** A valid configuration with every field set; its secrets contain the markers below. */
  config: NoInfer<C>
  /** Markers of at least eight characters that may appear in no log, report or outcome. */
  secrets: readonly string[]
  /** Starts a peer and opens a link to it, with the markers as its secrets. */
  open(behaviour: Behaviour, io: Io): Promise<{ link: Link; peer: Peer }>
  /** Fields that replace the defaults of a message; a function of n where the messages must differ. */
  message?: Partial<Outgoing> | ((nth: number) => Partial<Outgoing>)
  /** Behaviours that cannot occur with this provider, each with the reason, which is printed. */
  notApplicable?: Partial<Record<Behaviour, string>>
}

/** How long a promise may take to settle: a safeguard against hanging, which no test waits for. */
const SETTLE_MS = 15_000

/** Part of every message text. A body may appear in no log, report or outcome. */
const BODY_MARKER = 'body-marker-719355'

const BURST = 200

export function describeProvider<C>(name: string, fixture: Fixture<C>): void {
  const { provider } = fixture
  const opened: Session[] = []

  async function open(behaviour: Behaviour, options: { emitFails?: boolean } = {}): Promise<Session> {
    const io = createIo(options.emitFails ?? false)
    const session = { ...(await fixture.open(behaviour, io)), io }
    opened.push(session)
    return session
  }

  const usual = (nth: number) =>
    typeof fixture.message === 'function' ? fixture.message(nth) : fixture.message
  const message = (nth = 1, more: Partial<Outgoing> = {}) => outgoing(nth, { ...usual(nth), ...more })

  afterEach(async () => {
    for (const { link, peer, io } of opened.splice(0)) {
      await settled(link.close(), 'close()')
      await settled(peer.idle(), 'the last connection')
      await peer.close()
      expectNoLeaks(io, fixture.secrets)
    }
  })

  /**
   * Checks that an outcome is well-formed and contains no marker, and that its code is explained in a sentence, if at all.
   * Every outcome of the suite is checked.
   */
  function checked(outcome: Outcome): Outcome {
    expect(shapeFault(outcome), inspect(outcome)).toBeNull()
    expect(leaks(outcome, fixture.secrets)).toEqual([])
    if ('providerCode' in outcome && outcome.providerCode !== undefined)
      expect(provider.explain?.(outcome.providerCode) ?? 'No words.').toMatch(/^\p{Lu}.*\.$/u)
    return outcome
  }

  describe(`${name}: declared properties`, () => {
    test('has a valid key, known channels and a complete policy', () => {
      expect(provider.key).toMatch(/^[a-z][a-z0-9-]*$/)
      expect(provider.channels.length).toBeGreaterThan(0)
      for (const channel of provider.channels) expect(CHANNELS).toContain(channel)
      for (const type of provider.policy.allowedTypes) {
        expect(MESSAGE_TYPES).toContain(type)
        expect(provider.policy.sendModeByType).toHaveProperty(type)
      }
    })

    test('has a retry policy that outlasts an outage of one minute', () => {
      // The sandbox has no outages.
      if (provider.key === 'sandbox') return
      const { maxAttempts, backoffMs: firstMs } = provider.policy.retryPolicy
      // Makes every pause as short as the jitter allows.
      const least = { ...createRandom(), fraction: () => 0 }
      const pauses = Array.from({ length: maxAttempts - 1 }, (_, at) =>
        backoffMs(firstMs, at + 1, least, Number.POSITIVE_INFINITY),
      )
      expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeGreaterThan(60_000)
    })

    describeConfig(fixture)
  })

  describe(`${name}: faults`, () => {
    for (const behaviour of Object.keys(EXPECTED) as Behaviour[]) {
      const reason = fixture.notApplicable?.[behaviour]
      if (reason !== undefined) {
        console.info(`${name}: ${behaviour} does not apply: ${reason}`)
        test.skip(`${behaviour} (does not apply: ${reason})`)
        continue
      }
      test(`${behaviour}: ${EXPECTED[behaviour].join(' or ')}`, async () => {
        const { link, peer } = await open(behaviour)
        const stop = new AbortController()
        const outcome = link.send(message(), stop.signal)
        if (behaviour === 'slow-connect') await settled(peer.connected(1), 'the connection')
        if (behaviour === 'silent') await settled(peer.submitted(1), 'the submit')
        if (behaviour === 'slow-connect' || behaviour === 'silent') stop.abort()
        const { kind } = checked(await settled(outcome, 'send()'))
        expect(EXPECTED[behaviour]).toContain(kind)
      })
    }

    test('a send whose signal is already aborted ends in retry, and nothing is submitted', async () => {
      const { link, peer } = await open('accept')
      const outcome = checked(await settled(link.send(message(), AbortSignal.abort()), 'send()'))
      expect(outcome.kind).toBe('retry')
      await settled(link.close(), 'close()')
      await settled(peer.idle(), 'the last connection')
      expect(peer.submits()).toBe(0)
    })

    test.skipIf(fixture.notApplicable?.silent !== undefined)(
      'close() settles pending submits as unknown',
      async () => {
        const { link, peer } = await open('silent')
        const count = Math.min(link.concurrency, 4)
        const sends = Array.from({ length: count }, (_, nth) => link.send(message(nth), never()))
        await settled(peer.submitted(count), 'the submits')
        await settled(link.close(), 'close()')
        for (const outcome of await settled(Promise.all(sends), 'the sends')) {
          expect(checked(outcome).kind).toBe('unknown')
        }
        await settled(peer.idle(), 'the last connection')
      },
    )

    test.skipIf(fixture.notApplicable?.['slow-connect'] !== undefined)(
      'close() during the handshake of a connection settles the pending send as retry',
      async () => {
        const { link, peer } = await open('slow-connect')
        const outcome = link.send(message(), never())
        await settled(peer.connected(1), 'the connection')
        await settled(link.close(), 'close()')
        expect(checked(await settled(outcome, 'send()')).kind).toBe('retry')
        await settled(peer.idle(), 'the last connection')
      },
    )

    test('close() may be called twice, and a send after it ends in retry and submits nothing', async () => {
      const { link, peer } = await open('accept')
      await settled(Promise.all([link.close(), link.close()]), 'close()')
      expect(checked(await settled(link.send(message(), never()), 'send()')).kind).toBe('retry')
      await settled(peer.idle(), 'the last connection')
      expect(peer.submits()).toBe(0)
    })

    test('close() leaves no connection open when nothing was sent', async () => {
      const { link, peer } = await open('accept')
      await settled(link.close(), 'close()')
      await settled(peer.idle(), 'the last connection')
      expect(peer.submits()).toBe(0)
    })
  })

  describe(`${name}: concurrency`, () => {
    test(`${BURST} sends within the concurrency of the link are all accepted, with distinct provider ids`, async () => {
      const { link, peer } = await open('accept')
      expect(link.concurrency).toBeGreaterThanOrEqual(1)
      const outcomes: Outcome[] = []
      let next = 0
      const lane = async () => {
        while (next < BURST) outcomes.push(checked(await link.send(message(next++), never())))
      }
      await settled(Promise.all(Array.from({ length: link.concurrency }, lane)), 'the lane')
      expect(outcomes.map(one => one.kind)).toEqual(Array(BURST).fill('accepted'))
      expect(new Set(outcomes.map(one => one.kind === 'accepted' && one.providerId)).size).toBe(BURST)
      await settled(peer.submitted(BURST), 'the submits')
    })

    test(`${BURST} sends at once all settle, and at least one is accepted`, async () => {
      const { link } = await open('accept')
      const sends = Array.from({ length: BURST }, (_, nth) => link.send(message(nth), never()))
      const outcomes = await settled(Promise.all(sends), 'the sends')
      // Beyond its concurrency a link may queue a send or return it for a retry, but every send must settle.
      for (const outcome of outcomes)
        expect(['accepted', 'retry', 'throttled']).toContain(checked(outcome).kind)
      expect(outcomes.some(one => one.kind === 'accepted')).toBe(true)
    })
  })

  describe(`${name}: reports`, () => {
    test.skipIf(fixture.notApplicable?.['refuse-connection'] !== undefined)(
      'a link whose connection is refused is reported as down and never as up',
      async () => {
        const { link, io } = await open('refuse-connection')
        checked(await settled(link.send(message(), never()), 'send()'))
        expect(io.reports.map(one => one.state)).not.toContain('up')
        expect(io.reports.map(one => one.state)).toContain('down')
      },
    )

    test('test() resolves with ok and a detail, whether the provider is reachable or not', async context => {
      for (const behaviour of ['accept', 'refuse-connection'] as const) {
        if (fixture.notApplicable?.[behaviour] !== undefined) continue
        const { link } = await open(behaviour)
        if (link.test === undefined) return context.skip('its links have no test()')
        const result = await settled(link.test(never()), 'test()')
        expect(result.ok, result.detail).toBe(behaviour === 'accept')
        expect(result.detail).not.toBe('')
        expect(leaks(result, fixture.secrets)).toEqual([])
      }
    })

    test.skipIf(fixture.notApplicable?.['slow-connect'] !== undefined)(
      'test() resolves with ok false when its signal aborts',
      async context => {
        const { link, peer } = await open('slow-connect')
        if (link.test === undefined) return context.skip('its links have no test()')
        const stop = new AbortController()
        const result = link.test(stop.signal)
        await settled(peer.connected(1), 'the connection')
        stop.abort()
        expect((await settled(result, 'test()')).ok).toBe(false)
      },
    )

    test('a send still ends in accepted or retry after emit() has failed', async context => {
      const { link, peer, io } = await open('accept', { emitFails: true })
      checked(await settled(link.send(message(1), never()), 'send()'))
      if (peer.inbound === undefined) return context.skip('its far side sends nothing by itself')
      await settled(Promise.all([io.emitted(1), peer.inbound()]), 'emit()')
      const { kind } = checked(await settled(link.send(message(2), never()), 'send()'))
      // The link may have closed its session because of the failure, but the send settles.
      expect(['accepted', 'retry']).toContain(kind)
    })
  })
}

type Session = { link: Link; peer: Peer; io: ObservedIo }

function describeConfig<C>({ provider, config, secrets }: Fixture<C>): void {
  const schema = provider.config as { properties?: Record<string, { type?: string }>; required?: string[] }
  const accepts = (value: unknown) => Compile(provider.config).Check(value)
  const fields = Object.entries(schema.properties ?? {})

  test('accepts the full configuration, and one with the required fields only', () => {
    expect(accepts(config)).toBe(true)
    const required = schema.required ?? []
    const least = Object.fromEntries(
      Object.entries(config as object).filter(([key]) => required.includes(key)),
    )
    expect(accepts(least)).toBe(true)
  })

  test('rejects an unknown field, a missing required field and a value that is not an object', () => {
    expect(accepts({ ...config, surprise: 1 })).toBe(false)
    for (const key of schema.required ?? []) {
      const { [key]: _, ...rest } = config as Record<string, unknown>
      expect(accepts(rest), `without ${key}`).toBe(false)
    }
    for (const value of [null, [], 'x', 1, undefined]) expect(accepts(value)).toBe(false)
  })

  test.skipIf(fields.length === 0)('rejects a value of the wrong type in every field', () => {
    for (const [key, { type }] of fields) {
      const wrong: unknown[] = [null, type === 'object' ? 'x' : { a: 1 }, type === 'array' ? 'x' : [1]]
      if (type !== 'boolean') wrong.push(true)
      if (type !== 'string') wrong.push('text')
      if (type === 'integer') wrong.push(1.5, -1)
      for (const value of wrong)
        expect(accepts({ ...config, [key]: value }), `${key}: ${inspect(value)}`).toBe(false)
    }
  })

  test('declares only fields of its configuration as secrets, and these contain the markers', () => {
    for (const key of provider.secrets) expect(schema.properties).toHaveProperty(key)
    const sealed = JSON.stringify(provider.secrets.map(key => config[key]))
    for (const marker of secrets) {
      expect(marker.length).toBeGreaterThanOrEqual(8)
      expect(sealed).toContain(marker)
    }
  })
}

/** An outgoing message, as the dispatcher passes it to a link. */
export function outgoing(nth: number, more: Partial<Outgoing> = {}): Outgoing {
  const messageId = `msg_${String(nth).padStart(26, '0')}`
  return {
    attemptId: `${messageId}.1`,
    messageId,
    accountId: 'acc_00000000000000000000000001',
    attempt: 1,
    channel: 'email_user',
    messageType: 'utility',
    to: 'someone@example.com',
    from: null,
    text: `Hello ${BODY_MARKER}`,
    subject: null,
    html: false,
    files: [],
    template: null,
    ...more,
  }
}

export type ObservedIo = Io & {
  reports: LinkState[]
  logged: unknown[]
  inbound: Inbound[]
  /** Resolves once `emit` was called `count` times. */
  emitted(count: number): Promise<void>
}

/** The secret that the vault returns for every sender of an account. It has the form of a bot token. */
export const VAULT_SECRET = '424242:vault-secret-marker-90be'

/** The `Io` of a link. It records what the link reports, logs and emits. */
export function createIo(emitFails = false): ObservedIo {
  const waiting: { count: number; resolve(): void }[] = []
  const reports: LinkState[] = []
  const logged: unknown[] = []
  const inbound: Inbound[] = []
  let emits = 0
  const log = (fields: object, text: string) => void logged.push({ fields, text })
  return {
    connectionId: 'cnn_00000000000000000000000001',
    receiptUrl: 'https://posthorn.example.org/webhooks/x/cnn_00000000000000000000000001',
    receiptToken: 'receipt-token',
    vault: { read: async () => VAULT_SECRET },
    earlierIds: async () => [],
    recipientsOf: async () => new Map(),
    clock: systemClock,
    random: createRandom(),
    log: { info: log, warn: log, debug: log },
    emit(items) {
      emits++
      inbound.push(...items)
      for (const one of waiting) if (emits >= one.count) one.resolve()
      return emitFails ? Promise.reject(new Error('the store is gone')) : Promise.resolve()
    },
    reportLateOutcome: () => Promise.resolve(),
    report: state => void reports.push(state),
    reports,
    logged,
    inbound,
    emitted: count =>
      new Promise(resolve => {
        if (emits >= count) resolve()
        else waiting.push({ count, resolve })
      }),
  }
}

/** A signal that never aborts. */
export function never(): AbortSignal {
  return new AbortController().signal
}

/** Awaits a promise that must settle within `SETTLE_MS`. Fails instead of hanging. */
export async function settled<T>(work: Promise<T>, what: string): Promise<T> {
  const inTime = await withinMs(
    systemClock,
    SETTLE_MS,
    work.then(
      () => true,
      () => true,
    ),
  )
  expect(inTime, `${what} did not settle within ${SETTLE_MS} ms`).toBe(true)
  return work
}

/** What is malformed in an outcome, or null. */
function shapeFault(outcome: Outcome): string | null {
  const texts = Object.entries(outcome).filter(
    ([, value]) => typeof value === 'string' && value.length > 1_000,
  )
  if (texts.length > 0) return 'a text is too long to keep'
  switch (outcome.kind) {
    case 'accepted':
      return outcome.providerId !== '' ? null : 'accepted without a provider id'
    case 'rejected':
      return REJECT_CODES.includes(outcome.code) && outcome.detail !== '' ? null : 'rejected without a reason'
    case 'throttled':
      return outcome.afterMs > 0 ? null : 'throttled without a time'
    case 'retry':
      return outcome.detail !== '' && (outcome.afterMs ?? 1) > 0 ? null : 'retry without a reason'
    case 'unknown':
      return outcome.detail !== '' ? null : 'unknown without a reason'
  }
}

function expectNoLeaks(io: ObservedIo, secrets: readonly string[]): void {
  expect(leaks(io.logged, secrets)).toEqual([])
  expect(leaks(io.reports, secrets)).toEqual([])
}

/** The markers that appear in a value at any depth, in plain text or encoded. */
function leaks(value: unknown, secrets: readonly string[]): string[] {
  const shown = inspect(value, { depth: 20, maxStringLength: null, maxArrayLength: null, showHidden: true })
  return [...secrets, VAULT_SECRET, BODY_MARKER].filter(marker =>
    encodingsOf(marker).some(one => shown.includes(one)),
  )
}

/** The encodings of a marker. Base64 depends on the offset, so the middle part of each of the three offsets is here. */
function encodingsOf(marker: string): string[] {
  const shifted = ['', 'x', 'xx'].map(before =>
    Buffer.from(before + marker)
      .toString('base64')
      .slice(4, -4),
  )
  return [marker, encodeURIComponent(marker), Buffer.from(marker).toString('hex'), ...shifted]
}
