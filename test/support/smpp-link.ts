import type { Inbound, Io, LateOutcome, Link, LinkState, Outgoing } from '../../src/channels/provider.ts'
import type { SmppConfig } from '../../src/channels/smpp/config.ts'
import { smppProvider } from '../../src/channels/smpp.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createSignals } from './signals.ts'

/** A link of the SMPP provider; everything that it reports is recorded. */
export type TestLink = {
  link: Link
  states: readonly LinkState[]
  inbound: readonly Inbound[]
  /** Outcomes that arrived after the send had returned. */
  late: readonly LateOutcome[]
  /** Warnings that were logged. */
  warnings: readonly string[]
  /** Resolves when the last reported state is this one. */
  state(state: LinkState['state']): Promise<void>
  emitted(count: number): Promise<void>
  warned(count: number): Promise<void>
}

export type TestLinkOptions = {
  clock?: Clock
  config?: Partial<SmppConfig>
  /** Stands for the storage: called after the items are recorded, with the number of the call from 1. */
  emit?: (inbound: readonly Inbound[], nth: number) => Promise<void>
  earlierIds?: Io['earlierIds']
  recipientsOf?: Io['recipientsOf']
}

export async function openTestLink(port: number, options: TestLinkOptions = {}): Promise<TestLink> {
  const signals = createSignals()
  const states: LinkState[] = []
  const inbound: Inbound[] = []
  const late: LateOutcome[] = []
  const warnings: string[] = []
  let emits = 0
  const io: Io = {
    connectionId: 'cnn_00000000000000000000000001',
    receiptUrl: null,
    receiptToken: 'receipt-token',
    vault: { read: async () => null },
    earlierIds: options.earlierIds ?? (async () => []),
    recipientsOf: options.recipientsOf ?? (async () => new Map()),
    clock: options.clock ?? systemClock,
    // Without jitter, a pause between two tries is its full length.
    random: { ...createRandom(), fraction: () => 1 },
    log: {
      info() {},
      debug() {},
      warn(_fields, text) {
        warnings.push(text)
        signals.notify()
      },
    },
    async emit(items) {
      const nth = ++emits
      inbound.push(...items)
      signals.notify()
      await options.emit?.(items, nth)
    },
    async reportLateOutcome(outcome) {
      late.push(outcome)
      signals.notify()
    },
    report(state) {
      states.push(state)
      signals.notify()
    },
  }
  const config: SmppConfig = {
    host: '127.0.0.1',
    port,
    systemId: 'posthorn',
    password: 'secret',
    ...options.config,
  }
  const link = await smppProvider.open(config, io)
  return {
    link,
    states,
    inbound,
    late,
    warnings,
    state: state => signals.until(() => states.at(-1)?.state === state),
    emitted: count => signals.until(() => emits >= count),
    warned: count => signals.until(() => warnings.length >= count),
  }
}

/** A short SMS, as from the dispatcher. */
export function sms(more: Partial<Outgoing> = {}): Outgoing {
  return {
    attemptId: 'msg_00000000000000000000000001.1',
    messageId: 'msg_00000000000000000000000001',
    accountId: 'acc_00000000000000000000000001',
    attempt: 1,
    channel: 'local_sms',
    messageType: 'utility',
    to: '+491701234567',
    from: 'Posthorn',
    text: 'Hello there',
    subject: null,
    html: false,
    files: [],
    template: null,
    ...more,
  }
}

/** A signal that never aborts. */
export function never(): AbortSignal {
  return new AbortController().signal
}
