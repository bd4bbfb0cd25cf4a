import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTelegramServer } from '@openclaw/crabline'
import { createSignals } from './signals.ts'

/** A call of a bot, recorded by crabline. */
export type BotCall = { method: string; body: Record<string, unknown>; accepted: boolean }

/** Telegram's Bot API for one bot, of an independent implementation: crabline. */
export type Telegram = {
  apiRoot: string
  token: string
  calls: readonly BotCall[]
  /** The calls of one method, in order. */
  callsOf(method: string): BotCall[]
  /** Resolves once that many calls of the method have arrived. */
  called(method: string, count: number): Promise<void>
  /** A person writes to the bot; returns the update's number. */
  say(chatId: number, text: string, more?: object): Promise<number>
  close(): Promise<void>
}

let bots = 424_242

export async function startTelegram(options: { botId?: number } = {}): Promise<Telegram> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-telegram-'))
  const botId = options.botId ?? ++bots
  const token = `${botId}:crabline-token-marker-5d1c`
  const calls: BotCall[] = []
  const signals = createSignals()
  const server = await startTelegramServer({
    botId,
    botToken: token,
    botUsername: `crab_${botId}_bot`,
    recorderPath: join(directory, 'recorder.jsonl'),
    onEvent(event) {
      const {
        path = '',
        body,
        accepted,
      } = event as { path?: string; body: BotCall['body']; accepted?: boolean }
      const method = path.split('/').at(-1)!
      calls.push({ method, body, accepted: accepted === true })
      signals.notify()
    },
  })
  const { adminToken, endpoints } = server.manifest
  const callsOf = (method: string) => calls.filter(each => each.method === method)

  return {
    apiRoot: endpoints.apiRoot,
    token,
    calls,
    callsOf,
    called: (method, count) => signals.until(() => callsOf(method).length >= count),
    async say(chatId, text, more = {}) {
      const response = await fetch(endpoints.adminInboundUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${adminToken}` },
        body: JSON.stringify({ chatId, fromId: Math.abs(chatId), text, ...more }),
      })
      const answer = (await response.json()) as { update?: { update_id: number } }
      if (!answer.update)
        throw new Error(`crabline does not take it: ${response.status} ${JSON.stringify(answer)}`)
      return answer.update.update_id
    },
    async close() {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
