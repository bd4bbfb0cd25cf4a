import { type Static, Type } from 'typebox'
import { IsoTime, nullable, oneOf, success } from './envelope.ts'

/** `unauthorized`: the platform no longer accepts the token. */
export const BOT_STATES = ['active', 'unauthorized'] as const
export type BotState = (typeof BOT_STATES)[number]

/** How updates arrive: the platform calls us, or we fetch them. */
export const BOT_MODES = ['webhook', 'polling'] as const
export type BotMode = (typeof BOT_MODES)[number]

/**
 * `taken_back`: another program had set its own webhook, or removed ours, and we set ours again; `taken`: it
 * did so again, and we left it; `shared`: another program fetches the updates too; `unreachable`: the
 * platform cannot call us.
 */
export const BOT_PROBLEMS = ['taken_back', 'taken', 'shared', 'unreachable'] as const
export type BotProblemCode = (typeof BOT_PROBLEMS)[number]

const BotProblem = nullable(
  Type.Object(
    { code: oneOf(BOT_PROBLEMS), detail: Type.String(), since: IsoTime },
    { description: 'Why its updates may not come; null while nothing is known to keep them away' },
  ),
)

/**
 * The pattern of a token, which becomes part of URLs. Telegram's tokens are a number, a colon and a secret;
 * those of a proxy may differ.
 */
export const TOKEN_PATTERN = '^[A-Za-z0-9_-]{1,200}(?::[A-Za-z0-9_-]{0,200})?$'

export const BotCreate = Type.Object({
  token: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'As the platform gave it; checked with the platform, kept sealed, never shown',
  }),
})
export type BotCreate = Static<typeof BotCreate>

/** A bot as its account sees it. */
export const BotView = Type.Object({
  id: Type.String({ description: '`accountId` of a conversationContext' }),
  telegramUserId: Type.String({ description: 'The platform’s number of the bot' }),
  botappUserId: Type.String({ description: 'The same' }),
  username: nullable(Type.String()),
  name: Type.String(),
  state: oneOf(BOT_STATES),
  mode: nullable(oneOf(BOT_MODES, { description: 'Null until it is settled, and in the sandbox' })),
  problem: BotProblem,
  sandbox: Type.Boolean({ description: 'Made by a test key: no platform knows it' }),
  subscribers: Type.Integer({ description: 'Blocked ones included' }),
  lastUpdateAt: nullable(IsoTime),
  createdAt: IsoTime,
})
export type BotView = Static<typeof BotView>

/** A person who started a bot; also `data` of `bot.subscriber.*`. */
export const BotSubscriber = Type.Object({
  accountId: Type.String({ description: 'The bot’s id' }),
  chatId: Type.String(),
  telegramUserId: nullable(Type.String()),
  botappUserId: nullable(Type.String({ description: 'The same' })),
  username: nullable(Type.String()),
  firstName: nullable(Type.String({ description: 'Of a group its title' })),
  lastName: nullable(Type.String()),
  startPayload: nullable(Type.String({ description: 'What stood behind the last /start' })),
  startedAt: IsoTime,
  lastSeenAt: IsoTime,
  blockedAt: nullable(
    Type.String({ format: 'date-time', description: 'They blocked the bot: nothing is sent' }),
  ),
  conversationKey: Type.String(),
  conversationContext: Type.Object({
    moduleType: Type.Literal('botapp_bot'),
    accountId: Type.String(),
    chatId: Type.String(),
  }),
})
export type BotSubscriber = Static<typeof BotSubscriber>

export const SubscriberQuery = Type.Object({
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'A part of the chat id, the username or the name' }),
  ),
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
})
export type SubscriberQuery = Static<typeof SubscriberQuery>

export const SubscriberPage = success(
  Type.Object({
    accountId: Type.String(),
    subscribers: Type.Array(BotSubscriber),
    page: Type.Integer(),
    limit: Type.Integer(),
    total: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
)
export type SubscriberPage = Static<typeof SubscriberPage>

/** `data` of `bot.unauthorized` and `bot.problem`. */
export const BotEventData = Type.Object({
  botId: Type.String(),
  username: nullable(Type.String()),
  state: oneOf(BOT_STATES),
  problem: BotProblem,
})
export type BotEventData = Static<typeof BotEventData>
