import type { Io, Link, Outgoing, Receipt, TemplateUpdate } from '../../src/channels/provider.ts'
import { createSandboxProvider } from '../../src/channels/sandbox.ts'
import type { SandboxInbox } from '../../src/contract/sandbox-inbox.ts'
import { createSandboxInbox } from '../../src/core/sandbox/store.ts'
import type { Db } from '../../src/infra/db.ts'
import { type AccountId, type ConnectionId, createIds, type Ids } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { receiptsOf } from './inbound.ts'

const STEP_MS = 50

/** A sandbox on a real database, with a clock that advances only while no query is running. */
export type SandboxBench = {
  clock: FakeClock
  ids: Ids
  connectionId: ConnectionId
  inbox: SandboxInbox
  /** All receipts that were reported, with their times. */
  told: (Receipt & { toldAtMs: number })[]
  verdicts: TemplateUpdate[]
  /** Opens a link, as each node does; `io` overrides what it is given. */
  open(io?: Partial<Io>): Promise<Link>
  outgoing(over?: Partial<Outgoing>): Outgoing
  pass(ms: number): Promise<void>
}

export function createSandboxBench(db: Db, accountId?: AccountId): SandboxBench {
  const clock = createFakeClock()
  const random = createRandom()
  const ids = createIds(clock, random)
  const connectionId = ids.next('cnn')
  const account = accountId ?? ids.next('acc')
  const told: SandboxBench['told'] = []
  const verdicts: TemplateUpdate[] = []
  const watched = watch(createSandboxInbox({ db }))

  return {
    clock,
    ids,
    connectionId,
    inbox: watched.inbox,
    told,
    verdicts,
    open: io =>
      createSandboxProvider({ inbox: watched.inbox }).open(
        {},
        {
          connectionId,
          clock,
          random,
          receiptUrl: null,
          receiptToken: 'receipt-token',
          vault: { read: async () => null },
          earlierIds: async () => [],
          recipientsOf: async () => new Map(),
          log: { info() {}, warn() {}, debug() {} },
          report() {},
          reportLateOutcome: () => Promise.resolve(),
          async emit(items) {
            for (const item of receiptsOf(items)) told.push({ ...item, toldAtMs: clock.now() })
            verdicts.push(...items.filter(item => item.kind === 'template'))
          },
          ...io,
        },
      ),
    outgoing(over = {}) {
      const messageId = over.messageId ?? ids.next('msg')
      const attempt = over.attempt ?? 1
      return {
        attemptId: `${messageId}.${attempt}`,
        messageId,
        accountId: account,
        attempt,
        channel: 'local_sms',
        messageType: 'free_text',
        to: '+15550104567',
        from: 'Posthorn',
        text: 'Good morning',
        subject: null,
        html: false,
        files: [],
        template: null,
        ...over,
      }
    },
    async pass(ms) {
      for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
        await watched.quiet()
        await clock.advance(Math.min(STEP_MS, leftMs))
      }
      await watched.quiet()
    },
  }
}

/** Wraps the inbox; `quiet` waits until none of its calls is running. */
function watch(inner: SandboxInbox): { inbox: SandboxInbox; quiet(): Promise<void> } {
  const underWay = new Set<Promise<unknown>>()
  function seen<T>(call: Promise<T>): Promise<T> {
    const done = call.catch(() => {}).finally(() => underWay.delete(done))
    underWay.add(done)
    return call
  }
  return {
    inbox: new Proxy(inner, {
      get(target, verb: keyof SandboxInbox) {
        const call = target[verb] as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => seen(call(...args))
      },
    }),
    async quiet() {
      do {
        await Promise.all(underWay)
        // Calls that follow one begin within this iteration of the event loop.
        await new Promise(resolve => setImmediate(resolve))
      } while (underWay.size > 0)
    },
  }
}
