import type { SessionChat, SessionIo, SessionReport } from '../../src/channels/shared/session.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { createIo, type ObservedIo } from '../channels/conformance.ts'
import { createSignals } from './signals.ts'

/** The dependencies of a session, with everything that it reports recorded, and its keys in memory. */
export type ObservedSessionIo = SessionIo &
  ObservedIo & {
    news: SessionReport[]
    known: Map<string, string>
    chatsTold: SessionChat[]
    /** Resolves once it has reported this state `times` times in total. */
    said(state: SessionReport['state'], times?: number): Promise<SessionReport>
    /** Runs before keys are written. */
    beforeWrite: () => Promise<void>
  }

export type SessionIoOptions = {
  io?: ObservedIo
  askedPhone?: string | null
  pairedAtMs?: number | null
  known?: Map<string, string>
  clock?: Clock
  sentText?: SessionIo['sentText']
}

export function createSessionIo(options: SessionIoOptions = {}): ObservedSessionIo {
  const signals = createSignals()
  const known = options.known ?? new Map<string, string>()
  const news: SessionReport[] = []
  const chatsTold: SessionChat[] = []
  const io: ObservedSessionIo = {
    ...(options.io ?? createIo()),
    ...(options.clock && { clock: options.clock }),
    accountId: 'acc_00000000000000000000000001',
    name: 'front-desk',
    askedPhone: options.askedPhone ?? null,
    pairedAtMs: options.pairedAtMs ?? null,
    beforeWrite: async () => {},
    keys: {
      read: async (kind, ids) =>
        new Map(ids.flatMap(id => (known.has(`${kind} ${id}`) ? [[id, known.get(`${kind} ${id}`)!]] : []))),
      async write(changes) {
        await io.beforeWrite()
        for (const { kind, id, value } of changes) {
          if (value === null) known.delete(`${kind} ${id}`)
          else known.set(`${kind} ${id}`, value)
        }
      },
    },
    sentText: options.sentText ?? (async () => null),
    reportState(word) {
      news.push(word)
      signals.notify()
    },
    reportChats: chats => void chatsTold.push(...chats),
    news,
    known,
    chatsTold,
    async said(state, times = 1) {
      const those = () => news.filter(each => each.state === state)
      await signals.until(() => those().length >= times)
      return those().at(-1)!
    },
  }
  return io
}
