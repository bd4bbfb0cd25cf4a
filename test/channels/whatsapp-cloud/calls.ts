import { createHmac } from 'node:crypto'
import type { InboundRequest } from '../../../src/contract/inbound.ts'
import { APP_SECRET, BUSINESS_ACCOUNT_ID, PHONE_NUMBER_ID } from '../whatsapp-cloud.exchange.ts'

/** Webhook calls of WhatsApp: the examples of its documentation, signed with the app secret. */

export const METADATA = { display_phone_number: '15550783881', phone_number_id: PHONE_NUMBER_ID }

export function signatureOf(body: string | Buffer, secret = APP_SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

export function posted(body: string, headers: Record<string, string> = {}): InboundRequest {
  return {
    method: 'POST',
    url: null,
    query: '',
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(body),
  }
}

/** A call with a signature over the bytes of its body. */
export function signed(payload: unknown): InboundRequest {
  const body = JSON.stringify(payload)
  return posted(body, { 'x-hub-signature-256': signatureOf(body) })
}

export function handshake(query: Record<string, string>): InboundRequest {
  return {
    method: 'GET',
    url: null,
    query: new URLSearchParams(query).toString(),
    headers: {},
    body: Buffer.alloc(0),
  }
}

export const event = (...changes: object[]) => ({
  object: 'whatsapp_business_account',
  entry: [{ id: BUSINESS_ACCOUNT_ID, time: 1_739_321_024, changes }],
})

export const messagesChange = (value: object) => ({
  field: 'messages',
  value: { messaging_product: 'whatsapp', metadata: METADATA, ...value },
})

export const status = (said: string, more: object = {}) => ({
  id: 'wamid.HBgLMTY1MDU1NTEyMzQVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
  status: said,
  timestamp: '1750263773',
  recipient_id: '16505551234',
  conversation: { id: '6ceb9d929c9bdc4f90e967a32f8639b4', origin: { type: 'utility' } },
  pricing: { billable: true, pricing_model: 'PMP', category: 'utility', type: 'regular' },
  ...more,
})

export const failed = (code: number, more: object = {}) =>
  status('failed', {
    errors: [
      {
        code,
        title: 'Message undeliverable',
        message: 'Message undeliverable',
        error_data: { details: 'Message Undeliverable.' },
        href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
      },
    ],
    ...more,
  })

export const wrote = (content: object) => ({
  from: '16505551234',
  id: 'wamid.HBgLMTY1MDU1NTEyMzQVAgASGBQzQTRCNDlFREZFRDlFQUNEN0U4AA==',
  timestamp: '1749416383',
  ...content,
})

export const contacts = [{ profile: { name: 'Sheena Nelson' }, wa_id: '16505551234' }]

export const preferenceChange = (more: object = {}) => ({
  field: 'user_preferences',
  value: {
    messaging_product: 'whatsapp',
    metadata: METADATA,
    contacts,
    user_preferences: [
      {
        wa_id: '16505551234',
        detail: 'User requested to stop marketing messages',
        category: 'marketing_messages',
        value: 'stop',
        timestamp: 1_731_705_721,
        ...more,
      },
    ],
  },
})

export const templateChange = (value: object) => ({
  field: 'message_template_status_update',
  value: {
    event: 'APPROVED',
    message_template_id: 1_689_556_908_129_832,
    message_template_name: 'order_confirmation',
    message_template_language: 'en_US',
    reason: 'NONE',
    message_template_category: 'UTILITY',
    ...value,
  },
})

/** The category of a template has changed or, with `correct_category`, is going to change. */
export const categoryChange = (value: object) => ({
  field: 'template_category_update',
  value: {
    message_template_id: 1_689_556_908_129_832,
    message_template_name: 'order_confirmation',
    // As in WhatsApp's own example.
    message_template_language: 'en-US',
    new_category: 'MARKETING',
    ...value,
  },
})
