import { describeProvider } from './conformance.ts'
import { openFixture, SMS } from './http-fixture.ts'
import { exampleGateway, httpSmsFixture, TOKEN } from './http-sms.exchange.ts'
import { API_KEY, infobipFixture } from './infobip.exchange.ts'
import { TO_A_CHAT, telegramFixture } from './telegram.exchange.ts'
import { AUTH_TOKEN, twilioFixture } from './twilio.exchange.ts'
import { API_SECRET, SIGNATURE_SECRET, vonageFixture } from './vonage.exchange.ts'
import { ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN, whatsAppCloudFixture } from './whatsapp-cloud.exchange.ts'

const LANE = { maxConnections: 10, messagesPerSecond: 50 }
const URL = 'https://api.example.org/prefix'

describeProvider('twilio', {
  provider: twilioFixture.provider,
  config: {
    ...twilioFixture.configFor(URL),
    apiKeySid: `SK${'0'.repeat(32)}`,
    apiKeySecret: 'key-secret-marker-2c6d',
    messagingServiceSid: `MG${'0'.repeat(32)}`,
    ...LANE,
  },
  secrets: [AUTH_TOKEN, 'key-secret-marker-2c6d'],
  open: (behaviour, io) => openFixture(twilioFixture, behaviour, io),
  message: SMS,
})

describeProvider('vonage', {
  provider: vonageFixture.provider,
  config: {
    ...vonageFixture.configFor(URL),
    signatureSecret: SIGNATURE_SECRET,
    signatureMethod: 'sha256',
    ...LANE,
  },
  secrets: [API_SECRET, SIGNATURE_SECRET],
  open: (behaviour, io) => openFixture(vonageFixture, behaviour, io),
  message: SMS,
})

describeProvider('infobip', {
  provider: infobipFixture.provider,
  config: { ...infobipFixture.configFor(URL), ...LANE },
  secrets: [API_KEY],
  open: (behaviour, io) => openFixture(infobipFixture, behaviour, io),
  message: SMS,
})

describeProvider('http-sms', {
  provider: httpSmsFixture.provider,
  config: {
    ...exampleGateway(URL),
    // The suite also checks the required fields alone, so the request must not use a secret.
    request: { url: `${URL}/send`, query: { to: '{{to}}' } },
    tlsCa: '-----BEGIN CERTIFICATE-----',
    ...LANE,
  },
  secrets: [TOKEN],
  open: (behaviour, io) => openFixture(httpSmsFixture, behaviour, io),
  message: SMS,
})

describeProvider('whatsapp-cloud', {
  provider: whatsAppCloudFixture.provider,
  config: { ...whatsAppCloudFixture.configFor(URL), appId: '584544743160774', ...LANE },
  secrets: [ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN],
  open: (behaviour, io) => openFixture(whatsAppCloudFixture, behaviour, io),
  // Each message has its own recipient, because a single one would soon be throttled.
  message: nth => ({ channel: 'official_chatapp', to: `+1650555${String(nth).padStart(4, '0')}` }),
})

describeProvider('telegram', {
  provider: telegramFixture.provider,
  config: { ...telegramFixture.configFor(URL), ...LANE },
  // Its only secrets are the tokens of the bots, which are in the vault.
  secrets: [],
  open: (behaviour, io) => openFixture(telegramFixture, behaviour, io),
  // Each message has its own chat, because a single one would be paused by the first throttle.
  message: nth => ({ ...TO_A_CHAT, to: String(100_000 + nth) }),
})
