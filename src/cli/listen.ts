import type { Message } from '../contract/message.ts'
import { awake, pause, systemClock } from '../lib/clock.ts'
import { misuse, Refusal } from '../lib/refusal.ts'
import type { ServerEvent } from './client.ts'
import { clientCommand, type Invocation, WITH_KEY } from './client-command.ts'
import { queryOf } from './query.ts'
import { withoutControls } from './show.ts'

/** After a stream has ended, in ms. */
const AGAIN_MS = 1_000
/** Fields of the query, by the options that say them. */
const FILTERS = { status: 'status', channel: 'channel', messageType: 'type', to: 'to' }

export const run = clientCommand({
  usage:
    'listen [--status failed] [--channel local_sms] [--type otp] [--to RECIPIENT] [--count MESSAGES]' +
    `   ${WITH_KEY}`,
  words: 0,
  options: {
    status: { type: 'string' },
    channel: { type: 'string' },
    type: { type: 'string' },
    to: { type: 'string' },
    count: { type: 'string' },
  },
  async ask(given) {
    await awake(listen(given))
    return null
  },
  show: () => '',
})

/** Tells messages as they change, until there were `--count` of them, or for ever: over broken lines and restarts, too. */
async function listen(given: Invocation): Promise<void> {
  const path = `/messages/events${queryOf(given, FILTERS)}`
  const tell = given.flag('json') ? tellAsJson : tellAsLine
  let left = countOf(given)
  let whole = true
  for (let lastId: string | null = null; ; await pause(systemClock, AGAIN_MS)) {
    try {
      for await (const event of given.client.events(path, lastId)) {
        whole = true
        if (event.event === 'reset') note(lastId === null ? 'Listening.' : 'More has happened than is told.')
        lastId = event.id ?? lastId
        if (event.event !== 'message') continue
        tell(event)
        left -= 1
        if (left <= 0) return
      }
    } catch (error) {
      if (lastId === null || !isBroken(error)) throw error
    }
    if (whole) note('The line broke: trying again.')
    whole = false
  }
}

function countOf(given: Invocation): number {
  const count = given.number('count') ?? Number.POSITIVE_INFINITY
  if (count >= 1 && (Number.isInteger(count) || count === Number.POSITIVE_INFINITY)) return count
  throw misuse('--count must be a whole number from 1')
}

/** What may be over in a moment; a refusal by the API is not. */
function isBroken(error: unknown): boolean {
  return error instanceof Refusal || error instanceof TypeError
}

/** As the API's list shows it. */
function tellAsJson({ data }: ServerEvent): void {
  process.stdout.write(`${data}\n`)
}

function tellAsLine({ data }: ServerEvent): void {
  const { status, channel, to, messageId, errorCode } = JSON.parse(data) as Message
  const words = [status.padEnd(11), channel, to, messageId, ...(errorCode === null ? [] : [errorCode])]
  process.stdout.write(withoutControls(`${words.join('  ')}\n`))
}

function note(text: string): void {
  process.stderr.write(`${text}\n`)
}
