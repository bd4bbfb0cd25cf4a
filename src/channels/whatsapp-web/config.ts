import { type Static, Type } from 'typebox'
import { withPattern } from '../../contract/pattern.ts'

const DEFAULTS = {
  socketUrl: 'wss://web.whatsapp.com/ws/chat',
  messagesPerMinute: 60,
  freshMessagesPerMinute: 20,
  warmUpDays: 7,
  checkRecipients: true,
  deviceName: 'Posthorn',
}

/** The operator's settings for web sessions. All have defaults, so that sessions work without a connection. */
export const webConfig = Type.Object(
  {
    socketUrl: Type.Optional(
      Type.String({
        maxLength: 2_048,
        ...withPattern('^wss?://[^\\s/]+', 'must be a URL that begins with wss:// or ws://'),
        default: DEFAULTS.socketUrl,
        description: 'The WebSocket URL that sessions connect to.',
      }),
    ),
    tlsCa: Type.Optional(
      Type.String({
        maxLength: 65_536,
        description: 'PEM of the authority to trust instead of the public ones.',
      }),
    ),
    messagesPerMinute: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 6_000,
        default: DEFAULTS.messagesPerMinute,
        description: 'The rate limit of a session after its warm-up.',
      }),
    ),
    freshMessagesPerMinute: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 6_000,
        default: DEFAULTS.freshMessagesPerMinute,
        description: 'The rate limit of a session on the day on which it was linked.',
      }),
    ),
    warmUpDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 90,
        default: DEFAULTS.warmUpDays,
        description: 'Days in which the rate rises from freshMessagesPerMinute to messagesPerMinute.',
      }),
    ),
    checkRecipients: Type.Optional(
      Type.Boolean({
        default: DEFAULTS.checkRecipients,
        description: 'Asks whether a number is on the chat app before the first message to it.',
      }),
    ),
    deviceName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 50,
        default: DEFAULTS.deviceName,
        description: 'The name in the phone’s list of linked devices.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type WebConfig = Required<Omit<Static<typeof webConfig>, 'tlsCa'>> & { tlsCa?: string }

/** The configuration of a connection, or `{}`, with the defaults. */
export function withWebDefaults(config: Readonly<Record<string, unknown>>): WebConfig {
  return { ...DEFAULTS, ...config }
}
