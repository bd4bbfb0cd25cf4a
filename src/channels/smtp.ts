import type { Provider } from './provider.ts'
import { PLAIN_TEXT } from './shared/policy.ts'
import { Config, type SmtpConfig } from './smtp/config.ts'
import { explainReply } from './smtp/explain.ts'

export type { SmtpConfig } from './smtp/config.ts'

/**
 * E-mail through any SMTP server, over a pool of connections. `providerId` is the mail's
 * Message-ID without its brackets: ours, or the one with which some services are known to replace
 * it. What counts as accepted follows RFC 5321, 4.2 and 6.1.
 */
export const smtpProvider: Provider<SmtpConfig> = {
  key: 'smtp',
  channels: ['email_user'],
  policy: {
    ...PLAIN_TEXT,
    supportsUserSender: false,
    supportsSystemSenderFallback: true,
    retryPolicy: { maxAttempts: 14, backoffMs: 5_000 },
  },
  config: Config,
  secrets: ['password', 'dkim'],
  dedupes: false,
  explain: explainReply,
  // Loaded at first use: the mail library is the largest dependency, and many installations send no mail.
  open: async (config, io) => (await import('./smtp/link.ts')).openLink(config, io),
}
