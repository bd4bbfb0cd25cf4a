import type { Clock } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'
import type { Line } from './line.ts'

/** Whether numbers are registered on the chat app. */
export type Recipients = {
  /** Null where the chat app does not answer. */
  isRegistered(phone: string): Promise<boolean | null>
}

/** The result of a query: an answer, no open line, no answer in time, or a line that was closed because of the query. */
export type QueryResult = boolean | 'no line' | 'no answer' | 'hung up'

const MAX_CACHED = 2_000
const CACHED_MS = 10 * 60_000
/** How long "not registered" is cached; short, since the number may register at any moment. */
const UNREGISTERED_CACHED_MS = 60_000
/** How long not to ask again after the server has closed the line because of the query, or has not answered it. */
const QUERY_PAUSE_MS = { 'hung up': 10 * 60_000, 'no answer': 60_000 } as const

/** `ask` makes the query. */
export function createRecipients(clock: Clock, ask: (phone: string) => Promise<QueryResult>): Recipients {
  const known = createLru<string, { answer: boolean; untilMs: number }>(MAX_CACHED)
  let pausedUntilMs = Number.NEGATIVE_INFINITY

  function cache(phone: string, answer: boolean): boolean {
    known.set(phone, { answer, untilMs: clock.monotonic() + (answer ? CACHED_MS : UNREGISTERED_CACHED_MS) })
    return answer
  }

  return {
    async isRegistered(phone) {
      const held = known.get(phone)
      if (held && held.untilMs > clock.monotonic()) return held.answer
      if (clock.monotonic() < pausedUntilMs) return null
      const word = await ask(phone)
      if (typeof word === 'boolean') return cache(phone, word)
      if (word !== 'no line') pausedUntilMs = clock.monotonic() + QUERY_PAUSE_MS[word]
      return null
    },
  }
}

/** Never rejects. The library returns nothing on a time-out, and throws on a refusal, such as for too many queries. */
export function queryRegistration(
  line: Pick<Line, 'sock' | 'onEnd' | 'isOpen'>,
  phone: string,
): Promise<QueryResult> {
  return new Promise(resolve => {
    const forget = line.onEnd(() => resolve('hung up'))
    const say = (word: QueryResult) => {
      forget()
      resolve(word)
    }
    line.sock.onWhatsApp(phone).then(
      found => say(found ? found.some(each => each.exists) : 'no answer'),
      () => say(line.isOpen() ? 'no answer' : 'hung up'),
    )
  })
}
