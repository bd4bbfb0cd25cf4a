import { type Static, Type } from 'typebox'
import { withPattern } from '../../contract/pattern.ts'
import { BaseUrl, HTTP_FIELDS, pathOf, Secret } from '../http/config.ts'

export const BASE_URL = 'https://graph.facebook.com'
/** Added where the base URL names no version. */
const VERSION = 'v25.0'

/** One segment of a path. Graph's ids are numbers; a stand-in for Graph at `baseUrl` may have others. */
export const GRAPH_ID = '^[A-Za-z0-9_-]{1,64}$'
const GraphId = (description: string) =>
  Type.String({
    ...withPattern(GRAPH_ID, 'must be an id of letters, digits, _ and -, at most 64'),
    description,
  })

export const Config = Type.Object(
  {
    phoneNumberId: GraphId('The id of the number that sends, from WhatsApp Manager; not the number itself.'),
    businessAccountId: GraphId('The id of the WhatsApp Business Account, which holds the templates.'),
    accessToken: Secret(
      'The access token of a system user with whatsapp_business_messaging and whatsapp_business_management.',
      1_000,
    ),
    appSecret: Secret('The app’s secret: it proves that calls come from WhatsApp.', 200),
    verifyToken: Secret('A text of your choice; enter the same where the webhook is set up.', 200),
    appId: Type.Optional(
      GraphId('The app to which header samples of templates are uploaded. Absent: the access token’s own.'),
    ),
    baseUrl: Type.Optional(BaseUrl(`${BASE_URL}/${VERSION}`)),
    maxConnections: HTTP_FIELDS.maxConnections,
    messagesPerSecond: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        default: 80,
        description: 'The rate limit of the number: 80, or 1,000 if it was upgraded.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type WhatsAppCloudConfig = Static<typeof Config>

/** The origin of Graph, and the path before all of its paths. */
export function graphOf(config: Pick<WhatsAppCloudConfig, 'baseUrl'>): { origin: URL; base: string } {
  const origin = new URL(config.baseUrl ?? BASE_URL)
  const path = pathOf(origin)
  return { origin, base: /(^|\/)v\d+\.\d+$/.test(path) ? path : `${path}/${VERSION}` }
}
