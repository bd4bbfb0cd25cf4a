import { type Clock, within } from '../../lib/clock.ts'
import type { BotId, ConnectionId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Platforms } from './platforms.ts'
import type { BotTokens } from './tokens.ts'

/**
 * Acknowledges a button press to the platform, in the background. A failure is not repeated: the platform
 * drops a press within moments, and until then only shows the button as loading.
 */
export type Acknowledge = (feed: { botId: BotId; connectionId: ConnectionId }, press: string) => void

export type AcknowledgeDeps = {
  clock: Clock
  log: Log
  platforms: Pick<Platforms, 'get'>
  tokens: Pick<BotTokens, 'find'>
}

/** Acknowledgements under way at once on a node; while the platform is slow, further ones are dropped. */
const MAX_IN_FLIGHT = 500
/** The platform refuses later acknowledgements. */
const TIMEOUT_MS = 15_000

export function createAcknowledge({ clock, log, platforms, tokens }: AcknowledgeDeps): Acknowledge {
  let inFlight = 0

  async function send({ botId, connectionId }: Parameters<Acknowledge>[0], press: string): Promise<void> {
    const bot = await tokens.find(botId)
    const platform = platforms.get(connectionId)
    if (!bot || !platform) return
    const answer = await within(clock, TIMEOUT_MS, signal =>
      platform.bots.acknowledge(bot.token, press, signal),
    )
    if (answer.kind !== 'answer') log.debug({ botId, answer }, 'a button press was not acknowledged')
  }

  return (feed, press) => {
    if (inFlight >= MAX_IN_FLIGHT) return
    inFlight++
    void send(feed, press)
      .catch(error => log.debug({ err: error, botId: feed.botId }, 'a button press was not acknowledged'))
      .finally(() => inFlight--)
  }
}
