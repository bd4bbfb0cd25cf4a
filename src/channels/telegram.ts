import { openHttpApi } from './http/api.ts'
import { laneSettings } from './http/config.ts'
import { openDownload } from './http/download.ts'
import { FileUnavailable, type Io, type Link, type LinkTest, type Provider } from './provider.ts'
import { PLAIN_TEXT } from './shared/policy.ts'
import { explainCode } from './telegram/codes.ts'
import { Config, rootOf, type TelegramConfig } from './telegram/config.ts'
import { createPlatform } from './telegram/platform.ts'
import { createSender } from './telegram/send.ts'

export type { TelegramConfig } from './telegram/config.ts'

/**
 * Telegram bots, which belong to accounts: the connection says where the Bot API is, and each message
 * names the bot that sends it. Telegram does not dedupe by our ids, and sends no delivery receipts.
 */
export const telegramProvider: Provider<TelegramConfig> = {
  key: 'telegram',
  channels: ['botapp_bot'],
  policy: {
    ...PLAIN_TEXT,
    supportsUserSender: true,
    supportsSystemSenderFallback: false,
    retryPolicy: { maxAttempts: 12, backoffMs: 2_000 },
  },
  config: Config,
  secrets: [],
  dedupes: false,
  explain: explainCode,
  open: async (config, io) => openLink(config, io),
}

function openLink(config: TelegramConfig, io: Io): Link {
  const lane = laneSettings(config)
  const { origin, root } = rootOf(config)
  const api = openHttpApi({ name: 'telegram', origin, connections: lane.concurrency, io })
  const platform = createPlatform({ origin, root, clock: io.clock })
  const sender = createSender({
    botApi: { root, exchange: api.exchange },
    io,
    reportVerdict: api.reportVerdict,
  })

  async function openMedia({ to, reference }: { to: string; reference: string }, signal: AbortSignal) {
    const token = await io.vault.read(to)
    if (token === null) throw new FileUnavailable('the bot is no longer registered', false)
    const url = await platform.fileUrl(token, reference, signal)
    return openDownload({ url, headers: {}, clock: io.clock }, signal)
  }

  /** Without a bot's token no method can be called: this only checks that a server answers at the address. */
  async function test(signal: AbortSignal): Promise<LinkTest> {
    const { pathname } = new URL(`${root}/`)
    const asked = await api.exchange({ method: 'GET', path: pathname, headers: {} }, signal)
    if (asked.kind !== 'answer') return { ok: false, detail: `The Bot API was not reached (${asked.code}).` }
    const { status } = asked.answer
    const ok = status < 500
    return { ok, detail: ok ? 'The Bot API answers.' : `The Bot API fails (HTTP ${status}).` }
  }

  return {
    ...lane,
    send: sender.send,
    bots: platform,
    openMedia,
    test,
    async close() {
      platform.close()
      await api.close()
    },
  }
}
