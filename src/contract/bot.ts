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
    { description: 'Why updates may not arrive; null if no problem is known' },
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
    description:
      'The token that the platform issued; checked with the platform, encrypted at rest, never ' + 'returned',
  }),
})
export type BotCreate = Static<typeof BotCreate>

/** A bot as its account sees it. */
export const BotView = Type.Object({
  id: Type.String({ description: '`accountId` of a conversationContext' }),
  telegramUserId: Type.String({ description: "The bot's user id on the platform" }),
  botappUserId: Type.String({ description: 'Same as telegramUserId' }),
  username: nullable(Type.String()),
  name: Type.String(),
  state: oneOf(BOT_STATES),
  mode: nullable(oneOf(BOT_MODES, { description: 'Null until updates are set up, and in the sandbox' })),
  problem: BotProblem,
  sandbox: Type.Boolean({ description: 'Created by a test key; does not exist on the platform' }),
  subscribers: Type.Integer({ description: 'Number of subscribers, including those that blocked the bot' }),
  lastUpdateAt: nullable(IsoTime),
  createdAt: IsoTime,
})
export type BotView = Static<typeof BotView>

/** A person who started a bot; also `data` of `bot.subscriber.*`. */
export const BotSubscriber = Type.Object({
  accountId: Type.String({ description: "The bot's id" }),
  chatId: Type.String(),
  telegramUserId: nullable(Type.String()),
  botappUserId: nullable(Type.String({ description: 'Same as telegramUserId' })),
  username: nullable(Type.String()),
  firstName: nullable(Type.String({ description: 'For a group, its title' })),
  lastName: nullable(Type.String()),
  startPayload: nullable(Type.String({ description: 'The parameter of the last /start' })),
  startedAt: IsoTime,
  lastSeenAt: IsoTime,
  blockedAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'When the subscriber blocked the bot; nothing is sent any more',
    }),
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
    Type.String({ maxLength: 200, description: 'Part of the chat id, the username or the name' }),
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
