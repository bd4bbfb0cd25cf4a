import { httpSmsProvider } from './http-sms.ts'
import { infobipProvider } from './infobip.ts'
import type { Provider } from './provider.ts'
import { smppProvider } from './smpp.ts'
import { smtpProvider } from './smtp.ts'
import { telegramProvider } from './telegram.ts'
import { twilioProvider } from './twilio.ts'
import { vonageProvider } from './vonage.ts'
import { whatsAppCloudProvider } from './whatsapp-cloud.ts'
import { whatsAppWebProvider } from './whatsapp-web.ts'

/** A provider without the type of its configuration, which the schema checks before `open`. */
type AnyProvider = Omit<Provider, 'open' | 'secrets'> & {
  secrets: readonly string[]
  open(config: never, io: never): unknown
}

/** Every provider that a connection may name, by key. The sandbox comes with its inbox. */
export function createRegistry(sandbox: AnyProvider): ReadonlyMap<string, Provider> {
  const providers: readonly AnyProvider[] = [
    smppProvider,
    smtpProvider,
    twilioProvider,
    vonageProvider,
    infobipProvider,
    httpSmsProvider,
    whatsAppCloudProvider,
    whatsAppWebProvider,
    telegramProvider,
    sandbox,
  ]
  return new Map(providers.map(provider => [provider.key, provider as unknown as Provider]))
}
