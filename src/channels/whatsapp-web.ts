import type { Link, Outcome, Provider } from './provider.ts'
import { PLAIN_TEXT } from './shared/policy.ts'
import { explainCode } from './whatsapp-web/codes.ts'
import { type WebConfig, webConfig, withWebDefaults } from './whatsapp-web/config.ts'
import { isBaileysInstalled, loadBaileys, NOT_INSTALLED } from './whatsapp-web/library.ts'
import { createDownload, openMediaOf } from './whatsapp-web/media.ts'
import { reachServer } from './whatsapp-web/reach-server.ts'

export const WHATSAPP_WEB = 'whatsapp-web'

/**
 * Web sessions: messages are sent from users' own accounts of the chat app. A
 * connection holds the operator's settings for all sessions; each session has a link
 * and a lane of its own (`openWebSession`), on the one node that holds it.
 */
export const whatsAppWebProvider: Provider<WebConfig> = {
  key: WHATSAPP_WEB,
  channels: ['user_chatapp_session'],
  policy: {
    ...PLAIN_TEXT,
    supportsUserSender: true,
    supportsSystemSenderFallback: false,
    retryPolicy: { maxAttempts: 12, backoffMs: 2_000 },
  },
  config: webConfig,
  secrets: [],
  dedupes: false,
  explain: explainCode,
  // A session's link is on one node; its files can be opened from any.
  openMedia: async ({ reference }, { log, clock }, signal) =>
    openMediaOf(await loadBaileys(log), reference, createDownload(clock), signal),
  async open(config): Promise<Link> {
    const settings = withWebDefaults(config)
    return {
      concurrency: 1,
      send: async () => NO_SESSION,
      async test(signal) {
        if (!isBaileysInstalled()) return { ok: false, detail: NOT_INSTALLED }
        return reachServer(settings, signal)
      },
      async close() {},
    }
  },
}

const NO_SESSION: Outcome = {
  kind: 'rejected',
  code: 'SENDER_REJECTED',
  detail: 'a message on this channel must name the web session that sends it',
}
