import type {
  BotIdentity,
  BotPlatform,
  BotUpdate,
  BotWebhookInfo,
  PlatformResult,
} from '../../contract/bot-platform.ts'
import { type Clock, within } from '../../lib/clock.ts'
import { ANSWER_TOO_LARGE, createHttpClient } from '../http/client.ts'
import { parseJsonObject } from '../http/inbound.ts'
import { THROTTLE_MS } from '../http/verdict.ts'
import { FileUnavailable } from '../provider.ts'
import { type BotApi, type CallResult, callApi, type Methods, type Refused } from './call.ts'
import { isThrottle, isUnauthorized } from './codes.ts'
import { MAX_REST_MS } from './pace.ts'
import { readUpdate, UPDATE_TYPES } from './updates.ts'

/** Each bot that is polled holds one connection open. */
const MAX_CONNECTIONS = 20_000
/** Most updates in one answer of Telegram. */
const MAX_UPDATES = 100
/** Enough for a hundred long messages with quotes, written mostly as \uXXXX escapes. */
const MAX_ANSWER_BYTES = 4 * 1_048_576
/** How long to wait for an answer, beyond the time that a long poll may take. */
const ANSWER_MS = 15_000
/** `max_connections` of a webhook: calls that Telegram may make at once. */
const WEBHOOK_CONNECTIONS = 40

export type TelegramPlatform = BotPlatform & {
  /** The URL of a file. It is a secret: the token is part of it. Rejects with `FileUnavailable`. */
  fileUrl(token: string, fileId: string, signal: AbortSignal): Promise<URL>
  close(): void
}

/** All calls except sends. They have connections of their own, since most of them are long polls. */
export function createPlatform(options: { origin: URL; root: string; clock: Clock }): TelegramPlatform {
  const { clock, root } = options
  const client = createHttpClient({
    ...options,
    connections: MAX_CONNECTIONS,
    mostAnswerBytes: MAX_ANSWER_BYTES,
  })
  const closing = new AbortController()
  const botApi: BotApi = { root, exchange: client.exchange }

  /** Settles when the signal aborts, when the link closes, or when no answer came in time. */
  function callBot<T>(
    token: string,
    call: (methods: Methods) => Promise<T>,
    signal: AbortSignal,
    waitMs = 0,
  ): Promise<CallResult<T>> {
    return within(clock, waitMs + ANSWER_MS, late =>
      callApi(botApi, token, call, AbortSignal.any([signal, closing.signal, late])),
    )
  }

  async function identify(token: string, signal: AbortSignal): Promise<PlatformResult<BotIdentity>> {
    const called = await callBot(token, async methods => identityOf(await methods.getMe()), signal)
    // A wrong token makes the path unknown: a proxy may answer 401 or 404 in a form of its own.
    if (called.kind === 'unclear' && (called.status === 401 || called.status === 404)) return UNAUTHORIZED
    return answerOf(called)
  }

  /** Where an answer is too long to read, asks for fewer updates: Telegram repeats them until they are confirmed. */
  async function updates(
    token: string,
    { offset, waitMs }: { offset: number | null; waitMs: number },
    signal: AbortSignal,
  ): Promise<PlatformResult<readonly BotUpdate[]>> {
    for (let limit = MAX_UPDATES; ; limit = Math.ceil(limit / 10)) {
      const question = {
        ...(offset !== null && { offset }),
        limit,
        timeout: Math.floor(waitMs / 1_000),
        allowed_updates: [...UPDATE_TYPES],
      }
      const called = await callBot(token, methods => readAll(methods.getUpdates(question)), signal, waitMs)
      const tooLarge = called.kind === 'lost' && called.code === ANSWER_TOO_LARGE
      if (!tooLarge || limit === 1) return answerOf(called)
    }
  }

  async function fileUrl(token: string, fileId: string, signal: AbortSignal): Promise<URL> {
    const called = await callBot(token, methods => methods.getFile({ file_id: fileId }), signal)
    if (called.kind === 'refused' && called.code < 500 && !isThrottle(called)) {
      throw new FileUnavailable('Telegram no longer has the file', false)
    }
    if (called.kind !== 'answer')
      throw new FileUnavailable('Telegram did not return the path of the file', true)
    const path = called.value.file_path
    if (path === undefined)
      throw new FileUnavailable('Telegram lets bots download files of at most 20 MB', false)
    return new URL(`${root}/file/bot${token}/${path.split('/').map(encodeURIComponent).join('/')}`)
  }

  return {
    identify,
    async setWebhook(token, webhook, signal) {
      const called = await callBot(
        token,
        methods =>
          webhook
            ? methods.setWebhook({
                url: webhook.url,
                secret_token: webhook.secret,
                allowed_updates: [...UPDATE_TYPES],
                max_connections: WEBHOOK_CONNECTIONS,
              })
            : methods.deleteWebhook({}),
        signal,
      )
      return answerOf(called)
    },
    async getWebhook(token, signal) {
      return answerOf(
        await callBot(token, async methods => listenerOf(await methods.getWebhookInfo()), signal),
      )
    },
    updates,
    async acknowledge(token, press, signal) {
      const question = { callback_query_id: press }
      return answerOf(await callBot(token, methods => methods.answerCallbackQuery(question), signal))
    },
    secretHeader: 'x-telegram-bot-api-secret-token',
    parseUpdate: body => readUpdate(parseJsonObject(body)),
    fileUrl,
    close() {
      closing.abort()
      client.close()
    },
  }
}

const UNAUTHORIZED = { kind: 'unauthorized' } as const

/** Called while the call is made: an answer in an unexpected form makes the call `unclear`. */
function identityOf(me: object): BotIdentity {
  const { id, username, first_name: name } = me as Readonly<Record<string, unknown>>
  if (!Number.isSafeInteger(id) || typeof name !== 'string') throw new TypeError('getMe returned no bot')
  return { platformId: String(id), username: typeof username === 'string' ? username : null, name }
}

/** Fields of an unexpected type are left out. */
function listenerOf(info: object): BotWebhookInfo {
  const told = info as Readonly<Record<string, unknown>>
  const { url, pending_update_count: waiting, last_error_date: failedAtS, last_error_message: failure } = told
  if (typeof url !== 'string') throw new TypeError('getWebhookInfo returned no URL')
  return {
    url: url === '' ? null : url,
    waiting: typeof waiting === 'number' ? waiting : 0,
    failedAtMs: typeof failedAtS === 'number' ? failedAtS * 1_000 : null,
    failure: typeof failure === 'string' ? failure : null,
  }
}

async function readAll(updates: Promise<readonly unknown[]>): Promise<readonly BotUpdate[]> {
  return (await updates).flatMap(update => readUpdate(update) ?? [])
}

function answerOf<T>(called: CallResult<T>): PlatformResult<T> {
  switch (called.kind) {
    case 'answer':
      return called
    case 'refused':
      return refusalOf(called)
    case 'unclear':
      return { kind: 'unavailable', detail: `HTTP ${called.status}` }
    case 'cut':
      return { kind: 'unavailable', detail: called.error.message }
    default:
      return { kind: 'unavailable', detail: called.code }
  }
}

function refusalOf(refused: Refused): PlatformResult<never> {
  const { code, description, afterMs } = refused
  if (isUnauthorized(refused)) return UNAUTHORIZED
  if (isThrottle(refused)) {
    const restMs = Math.min(Math.max(afterMs ?? 0, THROTTLE_MS), MAX_REST_MS)
    return { kind: 'throttled', afterMs: restMs }
  }
  if (code === 409) return { kind: 'conflict', webhook: /webhook/i.test(description) }
  if (code >= 500) return { kind: 'unavailable', detail: `HTTP ${code}` }
  return { kind: 'refused', detail: description.slice(0, 300) }
}
