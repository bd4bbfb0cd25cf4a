import type { Message } from '../contract/message.ts'
import { keepProcessAlive, pause, systemClock } from '../lib/clock.ts'
import { misuse } from '../lib/refusal.ts'
import { mayPass, type ServerEvent } from './client.ts'
import { API_KEY_HINT, clientCommand, type Invocation } from './client-command.ts'
import { queryOf } from './query.ts'
import { withoutControls } from './show.ts'

/** Wait before reconnecting, in ms. */
const RECONNECT_MS = 1_000
/** Query parameters and their options. */
const FILTERS = { status: 'status', channel: 'channel', messageType: 'type', to: 'to' }

export const run = clientCommand({
  usage:
    'listen [--status failed] [--channel local_sms] [--type otp] [--to RECIPIENT] [--count MESSAGES]' +
    `   ${API_KEY_HINT}`,
  argCount: 0,
  options: {
    status: { type: 'string' },
    channel: { type: 'string' },
    type: { type: 'string' },
    to: { type: 'string' },
    count: { type: 'string' },
  },
  async call(given) {
    await keepProcessAlive(listen(given))
    return null
  },
  show: () => '',
})

/**
 * Prints messages as they change, until `--count` of them were printed, or for ever. Reconnects after errors
 * and restarts, but not if the first connection fails.
 */
async function listen(given: Invocation): Promise<void> {
  const path = `/messages/events${queryOf(given, FILTERS)}`
  const print = given.flag('json') ? printJson : printLine
  let left = countOf(given)
  let connected = true
  for (let lastId: string | null = null; ; await pause(systemClock, RECONNECT_MS)) {
    try {
      for await (const event of given.client.events(path, lastId)) {
        connected = true
        if (event.event === 'reset')
          printStatus(lastId === null ? 'Listening.' : 'Some changes may have been missed.')
        lastId = event.id ?? lastId
        if (event.event !== 'message') continue
        print(event)
        left -= 1
        if (left <= 0) return
      }
    } catch (error) {
      if (lastId === null || !mayPass(error)) throw error
    }
    if (connected) printStatus('The connection was lost: reconnecting.')
    connected = false
  }
}

function countOf(given: Invocation): number {
  const count = given.number('count') ?? Number.POSITIVE_INFINITY
  if (count >= 1 && (Number.isInteger(count) || count === Number.POSITIVE_INFINITY)) return count
  throw misuse('--count must be a whole number from 1')
}

/** The JSON as in the API's list. */
function printJson({ data }: ServerEvent): void {
  process.stdout.write(`${data}\n`)
}

function printLine({ data }: ServerEvent): void {
  const { status, channel, to, messageId, errorCode } = JSON.parse(data) as Message
  const words = [status.padEnd(11), channel, to, messageId, ...(errorCode === null ? [] : [errorCode])]
  process.stdout.write(withoutControls(`${words.join('  ')}\n`))
}

function printStatus(text: string): void {
  process.stderr.write(`${text}\n`)
}
