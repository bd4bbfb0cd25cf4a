import type { Clock } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'
import type { Line } from './line.ts'

/** Who is on the chat app, as far as it says so. */
export type Recipients = {
  /** Null where nobody says. */
  isThere(phone: string): Promise<boolean | null>
}

/** What came of the question: an answer, no line to ask on, no answer, or a line that ended over it. */
export type Word = boolean | 'no line' | 'no answer' | 'hung up'

const HELD = 2_000
const HOLDS_MS = 10 * 60_000
/** A number may have been registered a moment ago. */
const HOLDS_NO_MS = 60_000
/** A server that hangs up over the question is not asked again for this long; one that does not answer it for that. */
const MUTE_MS = { 'hung up': 10 * 60_000, 'no answer': 60_000 } as const

/** `ask` puts the question. */
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

/** Never rejects. The library says nothing where it waited in vain, and fails where it was refused, as for too many questions. */
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
