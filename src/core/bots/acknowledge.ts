import { type Clock, within } from '../../lib/clock.ts'
import type { BotId, ConnectionId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Platforms } from './platforms.ts'
import type { BotTokens } from './tokens.ts'

/**
 * Tells the platform, in the background, that a button's press has come; nobody waits for it. It is told at most
 * once: what fails is not repeated, since the platform forgets a press within moments, and only shows it as waiting till then.
 */
export type Acknowledge = (feed: { botId: BotId; connectionId: ConnectionId }, press: string) => void

export type AcknowledgeDeps = {
  clock: Clock
  log: Log
  platforms: Pick<Platforms, 'get'>
  tokens: Pick<BotTokens, 'find'>
}

/** Under way at once on a node; what comes beyond, while the platform is slow, is not told. */
const MOST_AT_ONCE = 500
/** By then the platform takes no answer any more. In ms. */
const TELL_MS = 15_000

export function createAcknowledge({ clock, log, platforms, tokens }: AcknowledgeDeps): Acknowledge {
  let underWay = 0

  async function tell({ botId, connectionId }: Parameters<Acknowledge>[0], press: string): Promise<void> {
    const bot = await tokens.find(botId)
    const platform = platforms.get(connectionId)
    if (!bot || !platform) return
    const answer = await within(clock, TELL_MS, signal => platform.bots.acknowledge(bot.token, press, signal))
    if (answer.kind !== 'answer') log.debug({ botId, answer }, 'a press of a button was not acknowledged')
  }

  return (feed, press) => {
    if (underWay >= MOST_AT_ONCE) return
    underWay++
    void tell(feed, press)
      .catch(error =>
        log.debug({ err: error, botId: feed.botId }, 'a press of a button was not acknowledged'),
      )
      .finally(() => underWay--)
  }
}
