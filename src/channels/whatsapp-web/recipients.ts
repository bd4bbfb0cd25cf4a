import type { Clock } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'
import type { Line } from './line.ts'

/** Whether numbers are registered on the chat app. */
export type Recipients = {
  /** Null where the chat app does not answer. */
  isThere(phone: string): Promise<boolean | null>
}

/** The result of a query: an answer, no open line, no answer in time, or a line that was closed because of the query. */
export type Word = boolean | 'no line' | 'no answer' | 'hung up'

const HELD = 2_000
const HOLDS_MS = 10 * 60_000
/** How long "not registered" is cached; short, since the number may register at any moment. */
const HOLDS_NO_MS = 60_000
/** How long not to ask again after the server has closed the line because of the query, or has not answered it. */
const MUTE_MS = { 'hung up': 10 * 60_000, 'no answer': 60_000 } as const

/** `ask` makes the query. */
export function createRecipients(clock: Clock, ask: (phone: string) => Promise<Word>): Recipients {
  const known = createLru<string, { answer: boolean; untilMs: number }>(HELD)
  let muteUntilMs = Number.NEGATIVE_INFINITY

  function note(phone: string, answer: boolean): boolean {
    known.set(phone, { answer, untilMs: clock.monotonic() + (answer ? HOLDS_MS : HOLDS_NO_MS) })
    return answer
  }

  return {
    async isThere(phone) {
      const held = known.get(phone)
      if (held && held.untilMs > clock.monotonic()) return held.answer
      if (clock.monotonic() < muteUntilMs) return null
      const word = await ask(phone)
      if (typeof word === 'boolean') return note(phone, word)
      if (word !== 'no line') muteUntilMs = clock.monotonic() + MUTE_MS[word]
      return null
    },
  }
}

/** Never rejects. The library returns nothing on a time-out, and throws on a refusal, such as for too many queries. */
export function askWhoIsThere(line: Pick<Line, 'sock' | 'atEnd' | 'isUp'>, phone: string): Promise<Word> {
  return new Promise(resolve => {
    const forget = line.atEnd(() => resolve('hung up'))
    const say = (word: Word) => {
      forget()
      resolve(word)
    }
    line.sock.onWhatsApp(phone).then(
      found => say(found ? found.some(each => each.exists) : 'no answer'),
      () => say(line.isUp() ? 'no answer' : 'hung up'),
    )
  })
}
