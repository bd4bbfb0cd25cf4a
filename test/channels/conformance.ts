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
 * The same faults for every provider. A provider's own test file describes how its far side
 * shows each behaviour and calls `describeProvider`; what must come of it is said here.
 */

/** How the far side behaves, and the outcomes that are honest then. */
export const EXPECTED = {
  /** Takes everything at once. */
  accept: ['accepted'],
  /** Refuses the recipient or the message for good, in its protocol's own words. */
  reject: ['rejected'],
  /** Says that we are too fast. */
  throttle: ['throttled', 'retry'],
  /** Says explicitly "not now". */
  'temporary-failure': ['retry', 'throttled'],
  /** Takes the whole submit and never answers it. */
  silent: ['unknown'],
  /** Takes the whole submit, then resets the connection. */
  'reset-after-submit': ['unknown'],
  /** Nothing listens. */
  'refuse-connection': ['retry'],
  /** Answers the submit with bytes that mean nothing. */
  'garbage-answer': ['unknown'],
  /** Takes the connection and never completes the session's beginning. */
  'slow-connect': ['retry'],
} as const satisfies Record<string, readonly Outcome['kind'][]>

export type Behaviour = keyof typeof EXPECTED

/** The far side, as the suite needs it. Every promise is a signal; none may wait by the clock. */
export type Peer = {
  /** Connections taken so far have reached `count`. */
  connected(count: number): Promise<unknown>
  /** Submits read whole so far have reached `count`, whatever the answer. */
  submitted(count: number): Promise<unknown>
  /** No connection of the link is open any more. */
  idle(): Promise<unknown>
  /** Makes the far side send something that the link hands to `io.emit`; absent where it never does. */
  inbound?(): Promise<unknown>
  close(): Promise<unknown>
}

export type Fixture<C> = {
  provider: Provider<C>
  /** A valid configuration with every field set; its secrets contain the markers below. */
  config: NoInfer<C>
  /** Marker texts of at least eight letters that may show up nowhere. */
  secrets: readonly string[]
  /** Starts a far side and opens a link to it, with the markers as its secrets. */
  open(behaviour: Behaviour, io: Io): Promise<{ link: Link; peer: Peer }>
  /** What a message of this provider has beside the usual; the nth of its own, where they must differ. */
  message?: Partial<Outgoing> | ((nth: number) => Partial<Outgoing>)
  /** Behaviours that cannot be, each with the reason; printed. */
  notApplicable?: Partial<Record<Behaviour, string>>
}

/** What the suite allows between a signal and the link's settling. A guard, not a wait. */
const SETTLE_MS = 15_000

/** The text of each message carries it: a body may show up in no log, report or outcome. */
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
      nothingLeaked(io, fixture.secrets)
    }
  })

  /** Every test that has an outcome goes through here: it is whole, and it gives nothing away. */
  function checked(outcome: Outcome): Outcome {
    expect(shapeFault(outcome), inspect(outcome)).toBeNull()
    expect(leaks(outcome, fixture.secrets)).toEqual([])
    return outcome
  }

  describe(`${name}: what it declares`, () => {
    test('key, channels and policy', () => {
      expect(provider.key).toMatch(/^[a-z][a-z0-9-]*$/)
      expect(provider.channels.length).toBeGreaterThan(0)
      for (const channel of provider.channels) expect(CHANNELS).toContain(channel)
      for (const type of provider.policy.allowedTypes) {
        expect(MESSAGE_TYPES).toContain(type)
        expect(provider.policy.sendModeByType).toHaveProperty(type)
      }
    })

    test('tries until a provider that is away for a minute is back', () => {
      // The sandbox is never away.
      if (provider.key === 'sandbox') return
      const { maxAttempts, backoffMs: firstMs } = provider.policy.retryPolicy
      // The shortest pauses that may be drawn.
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

    test('a signal that is aborted already: nothing is sent', async () => {
      const { link } = await open('accept')
      const outcome = checked(await settled(link.send(message(), AbortSignal.abort()), 'send()'))
      expect(['retry', 'unknown']).toContain(outcome.kind)
    })

    test.skipIf(fixture.notApplicable?.silent !== undefined)(
      'close() settles what is under way',
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

    test('close() twice, and a send after it', async () => {
      const { link } = await open('accept')
      await settled(Promise.all([link.close(), link.close()]), 'close()')
      expect(checked(await settled(link.send(message(), never()), 'send()')).kind).toBe('retry')
    })

    test('close() before a connection was made', async () => {
      const { link } = await open('accept')
      await settled(link.close(), 'close()')
    })
  })

  describe(`${name}: many at once`, () => {
    test(`${BURST} sends in its lane: each is taken, none twice`, async () => {
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

    test(`${BURST} sends without a lane: each settles`, async () => {
      const { link } = await open('accept')
      const sends = Array.from({ length: BURST }, (_, nth) => link.send(message(nth), never()))
      const outcomes = await settled(Promise.all(sends), 'the sends')
      // Beyond its concurrency a link may hold a send or hand it back, but never lose track of it.
      for (const outcome of outcomes)
        expect(['accepted', 'retry', 'throttled']).toContain(checked(outcome).kind)
      expect(outcomes.some(one => one.kind === 'accepted')).toBe(true)
    })
  })

  describe(`${name}: what it tells`, () => {
    test.skipIf(fixture.notApplicable?.['refuse-connection'] !== undefined)(
      'a link that cannot be made is never reported as up',
      async () => {
        const { link, io } = await open('refuse-connection')
        checked(await settled(link.send(message(), never()), 'send()'))
        expect(io.reports.map(one => one.state)).not.toContain('up')
        expect(io.reports.map(one => one.state)).toContain('down')
      },
    )

    test('an operator’s test is a value, for better or worse', async () => {
      for (const behaviour of ['accept', 'refuse-connection'] as const) {
        if (fixture.notApplicable?.[behaviour] !== undefined) continue
        const { link } = await open(behaviour)
        if (link.test === undefined) return
        const result = await settled(link.test(never()), 'test()')
        expect(result.ok, result.detail).toBe(behaviour === 'accept')
        expect(result.detail).not.toBe('')
        expect(leaks(result, fixture.secrets)).toEqual([])
      }
    })

    test.skipIf(fixture.notApplicable?.['slow-connect'] !== undefined)(
      'an operator’s test ends with its signal',
      async () => {
        const { link, peer } = await open('slow-connect')
        if (link.test === undefined) return
        const stop = new AbortController()
        const result = link.test(stop.signal)
        await settled(peer.connected(1), 'the connection')
        stop.abort()
        expect((await settled(result, 'test()')).ok).toBe(false)
      },
    )

    test('an emit that fails brings nobody down', async context => {
      const { link, peer, io } = await open('accept', { emitFails: true })
      checked(await settled(link.send(message(1), never()), 'send()'))
      if (peer.inbound === undefined) return context.skip('its far side sends nothing by itself')
      await settled(Promise.all([io.emitted(1), peer.inbound()]), 'emit()')
      const { kind } = checked(await settled(link.send(message(2), never()), 'send()'))
      // The link may have dropped its session over it, but it answers.
      expect(['accepted', 'retry']).toContain(kind)
    })
  })
}

type Session = { link: Link; peer: Peer; io: ObservedIo }

function describeConfig<C>({ provider, config, secrets }: Fixture<C>): void {
  const schema = provider.config as { properties?: Record<string, { type?: string }>; required?: string[] }
  const accepts = (value: unknown) => Compile(provider.config).Check(value)
  const fields = Object.entries(schema.properties ?? {})

  test('takes the valid configuration, and one without what is optional', () => {
    expect(accepts(config)).toBe(true)
    const required = schema.required ?? []
    const least = Object.fromEntries(
      Object.entries(config as object).filter(([key]) => required.includes(key)),
    )
    expect(accepts(least)).toBe(true)
  })

  test('refuses an unknown field, a missing one, and what is no object', () => {
    expect(accepts({ ...config, surprise: 1 })).toBe(false)
    for (const key of schema.required ?? []) {
      const { [key]: _, ...rest } = config as Record<string, unknown>
      expect(accepts(rest), `without ${key}`).toBe(false)
    }
    for (const value of [null, [], 'x', 1, undefined]) expect(accepts(value)).toBe(false)
  })

  test.skipIf(fields.length === 0)('refuses every field of the wrong type', () => {
    for (const [key, { type }] of fields) {
      const wrong: unknown[] = [null, type === 'object' ? 'x' : { a: 1 }, type === 'array' ? 'x' : [1]]
      if (type !== 'boolean') wrong.push(true)
      if (type !== 'string') wrong.push('text')
      if (type === 'integer') wrong.push(1.5, -1)
      for (const value of wrong)
        expect(accepts({ ...config, [key]: value }), `${key}: ${inspect(value)}`).toBe(false)
    }
  })

  test('names fields of its own as secrets, and the markers are inside them', () => {
    for (const key of provider.secrets) expect(schema.properties).toHaveProperty(key)
    const sealed = JSON.stringify(provider.secrets.map(key => config[key]))
    for (const marker of secrets) {
      expect(marker.length).toBeGreaterThanOrEqual(8)
      expect(sealed).toContain(marker)
    }
  })
}

/** A message on its way out, as the dispatcher would hand it over. */
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

/** What every sender that an account brought along is known by; of the form of a bot's token. */
export const VAULT_SECRET = '424242:vault-secret-marker-90be'

/** What a provider is given, with everything that it says kept. */
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

/** A signal that nobody aborts. */
export function never(): AbortSignal {
  return new AbortController().signal
}

/** The value of a promise that must settle soon; fails, instead of hanging, where it does not. */
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

/** What is wrong with an outcome's form, or null. */
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

function nothingLeaked(io: ObservedIo, secrets: readonly string[]): void {
  expect(leaks(io.logged, secrets)).toEqual([])
  expect(leaks(io.reports, secrets)).toEqual([])
}

/** The markers that show up in a value, plainly or in base64, however deep. */
function leaks(value: unknown, secrets: readonly string[]): string[] {
  const shown = inspect(value, { depth: 20, maxStringLength: null, maxArrayLength: null, showHidden: true })
  return [...secrets, VAULT_SECRET, BODY_MARKER].filter(marker =>
    spellings(marker).some(one => shown.includes(one)),
  )
}

/** Base64 shifts with what stands in front; the middle of each shift is enough to find it. */
function spellings(marker: string): string[] {
  const shifted = ['', 'x', 'xx'].map(before =>
    Buffer.from(before + marker)
      .toString('base64')
      .slice(4, -4),
  )
  return [marker, encodeURIComponent(marker), Buffer.from(marker).toString('hex'), ...shifted]
}
