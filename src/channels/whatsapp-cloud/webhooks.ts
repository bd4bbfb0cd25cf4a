import { createHmac } from 'node:crypto'
import type { InboundRequest } from '../../contract/inbound.ts'
import { constantTimeEqual } from '../../lib/constant-time-equal.ts'
import { malformed, parseJsonObject, UNAUTHORIZED } from '../http/inbound.ts'
import type {
  Inbound,
  InboundResult,
  MarketingPreference,
  Receipt,
  RejectCode,
  TemplateChange,
} from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import { type GraphMeaning, meaningOf } from './codes.ts'
import { asFields, type Fields, objectsIn, stringOf, textOf, timeOf, withPlus } from './fields.ts'
import { phoneDigitsOf, readMessage } from './inbound.ts'
import { reasonOf, statusOf, subTypeOf } from './templates.ts'

export type WebhookConfig = {
  phoneNumberId: string
  businessAccountId: string
  appSecret: string
  verifyToken: string
}

/**
 * A webhook call of WhatsApp: the handshake that proves that the URL is ours, or
 * events, signed with the app's secret. All numbers of an app may share one URL, so events of
 * other numbers are ignored, as are unknown ones.
 * Source: https://developers.facebook.com/docs/graph-api/webhooks/getting-started.
 */
export function readCall(request: InboundRequest, config: WebhookConfig): InboundResult {
  if (request.method === 'GET') return answerChallenge(request, config.verifyToken)
  if (!isSigned(request, config.appSecret)) return UNAUTHORIZED
  const said = parseJsonObject(request.body)
  if (said === null) return malformed('the body is no JSON object')
  const inbound = objectsIn(said['entry']).flatMap(entry =>
    objectsIn(entry['changes']).flatMap(change => readChange(change, entry, config)),
  )
  return { kind: 'taken', inbound }
}

/** Answers the handshake with its challenge if the verify token fits. */
function answerChallenge(request: InboundRequest, verifyToken: string): InboundResult {
  const query = new URLSearchParams(request.query)
  const challenge = query.get('hub.challenge') ?? ''
  const known =
    query.get('hub.mode') === 'subscribe' &&
    /^[\w.-]{1,200}$/.test(challenge) &&
    constantTimeEqual(query.get('hub.verify_token') ?? '', verifyToken)
  if (!known) return { kind: 'forbidden' }
  const reply = { status: 200, body: challenge, contentType: 'text/plain; charset=utf-8' }
  return { kind: 'taken', inbound: [], reply }
}

/** HMAC-SHA256 over the raw body. */
function isSigned({ headers, body }: InboundRequest, appSecret: string): boolean {
  const wanted = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
  return constantTimeEqual(headers['x-hub-signature-256'] ?? '', wanted)
}

function readChange(change: Fields, entry: Fields, config: WebhookConfig): Inbound[] {
  const value = asFields(change['value'])
  switch (change['field']) {
    case 'messages':
      return isOurs(value, config) ? readMessages(value) : []
    case 'user_preferences':
      return isOurs(value, config) ? readPreferences(value, entry) : []
    case 'message_template_status_update':
      return stringOf(entry['id']) === config.businessAccountId ? readTemplate(value, entry) : []
    case 'template_category_update':
      return stringOf(entry['id']) === config.businessAccountId ? readCategory(value, entry) : []
    default:
      // Quality, limits, account updates: identity.ts reads these from the number.
      return []
  }
}

function isOurs(value: Fields, { phoneNumberId }: WebhookConfig): boolean {
  return stringOf(asFields(value['metadata'])['phone_number_id']) === phoneNumberId
}

function readMessages(value: Fields): Inbound[] {
  const to = withPlus(asFields(value['metadata'])['display_phone_number'])
  const contacts = objectsIn(value['contacts'])
  return [
    ...objectsIn(value['statuses'])
      .map(readStatus)
      .filter(each => each !== null),
    ...objectsIn(value['messages'])
      .map(message => readMessage(message, to, contacts))
      .filter(each => each !== null),
  ]
}

const STATUSES: Readonly<Record<string, Receipt['status']>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  // A voice message that was played.
  played: 'read',
  failed: 'undelivered',
}

function readStatus(status: Fields): Receipt | null {
  const providerId = status['id']
  const said = entryOf(STATUSES, stringOf(status['status']))
  if (typeof providerId !== 'string' || !said) return null
  const attemptId = textOf(status['biz_opaque_callback_data'])
  const [error] = objectsIn(status['errors'])
  const code = typeof error?.['code'] === 'number' ? String(error['code']) : null
  const reject = said === 'undelivered' && code !== null ? rejectOf(meaningOf(code)) : null
  return {
    kind: 'receipt',
    providerId,
    ...(attemptId !== null && { attemptId }),
    status: said,
    ...(reject && { reject }),
    ...(reject && code !== null && meaningOf(code)?.means === 'opted out' && { optedOut: true }),
    atMs: timeOf(status['timestamp']),
    providerCode: code,
    detail: code === null ? null : (meaningOf(code)?.text ?? null),
  }
}

/** The rejection of a message that had been taken; null where WhatsApp only reports that it did not arrive. */
function rejectOf(meaning: GraphMeaning | undefined): RejectCode | null {
  switch (meaning?.means) {
    case 'unregistered':
      return 'CHATAPP_NOT_REGISTERED'
    case 'recipient':
    case 'opted out':
      return 'RECIPIENT_REJECTED'
    case 'message':
    case 'template':
      return 'MESSAGE_REJECTED'
    case 'sender':
      return 'SENDER_REJECTED'
    case 'operator':
    case 'throttled':
    case 'pair':
      return 'PROVIDER_UNAVAILABLE'
    default:
      return null
  }
}

const DECISIONS: Readonly<Record<string, MarketingPreference['decision']>> = { stop: 'stop', resume: 'start' }

/**
 * People stop and resume a business's marketing in WhatsApp's own settings.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/user_preferences.
 */
function readPreferences(value: Fields, entry: Fields): MarketingPreference[] {
  const to = withPlus(asFields(value['metadata'])['display_phone_number'])
  return objectsIn(value['user_preferences']).flatMap(each => {
    const person = phoneDigitsOf(each['wa_id'])
    const said = stringOf(each['value'])
    const decision = entryOf(DECISIONS, said)
    if (each['category'] !== 'marketing_messages' || !decision || person === null) return []
    const at = stringOf(each['timestamp']) || stringOf(entry['time'])
    const eventId = `preference:${person}:${said}:${at}`
    const from = `+${person}`
    return [
      { kind: 'preference', eventId, channel: 'official_chatapp', from, to, decision, atMs: timeOf(at) },
    ]
  })
}

function readTemplate(value: Fields, entry: Fields): Inbound[] {
  const { event, message_template_category: category } = value
  const status = statusOf(event)
  if (!status) return []
  const reason =
    reasonOf(asFields(value['rejection_info'])['reason']) ??
    reasonOf(value['reason']) ??
    reasonOf(asFields(value['other_info'])['description'])
  const word = { status, reason: status === 'approved' ? null : reason, ...subTypeOf(category) }
  return templateUpdate(value, entry, String(event), word)
}

/** `new_category` is the present category, also where the event announces another one for tomorrow. */
function readCategory(value: Fields, entry: Fields): Inbound[] {
  const { new_category: category } = value
  const told = subTypeOf(category)
  if (!told.subType) return []
  return templateUpdate(value, entry, String(category), { status: null, reason: null, ...told })
}

function templateUpdate(
  value: Fields,
  entry: Fields,
  said: string,
  word: Pick<TemplateChange, 'status' | 'reason' | 'subType'>,
): Inbound[] {
  const { message_template_name: name, message_template_language: language } = value
  const id = stringOf(value['message_template_id'])
  if (typeof name !== 'string' || typeof language !== 'string' || id === '') return []
  const state = {
    // An id above 2^53 loses digits when it is parsed as a JSON number.
    providerTemplateId: Number.isSafeInteger(Number(id)) ? id : '',
    name,
    // WhatsApp's examples of this event write en-US for the language en_US.
    language: language.replaceAll('-', '_'),
    ...word,
  }
  const at = stringOf(entry['time'])
  return [{ kind: 'template', eventId: at === '' ? null : `${id}:${said}:${at}:${language}:${name}`, state }]
}
