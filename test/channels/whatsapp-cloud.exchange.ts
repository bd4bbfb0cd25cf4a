import { Readable } from 'node:stream'
import { FileUnavailable, type OutgoingFile, type OutgoingTemplate } from '../../src/channels/provider.ts'
import { type WhatsAppCloudConfig, whatsAppCloudProvider } from '../../src/channels/whatsapp-cloud.ts'
import type { Exchange, HttpFixture } from './http-fixture.ts'

export const ACCESS_TOKEN = 'EAAaccess-token-marker-51c2'
export const APP_SECRET = 'app-secret-marker-8f0b'
export const VERIFY_TOKEN = 'verify-token-marker-77de'
export const PHONE_NUMBER_ID = '106540352242922'
export const BUSINESS_ACCOUNT_ID = '102290129340398'
const MESSAGES = `/v25.0/${PHONE_NUMBER_ID}/messages`

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=UTF-8', ...headers },
  body: JSON.stringify(body),
})

/** A response as in the documentation of the messages edge. */
export const taken = (wamid: string) =>
  json(200, {
    messaging_product: 'whatsapp',
    contacts: [{ input: '+16505551234', wa_id: '16505551234' }],
    messages: [{ id: wamid, message_status: 'accepted' }],
  })

/** An error as in the guide to error codes. */
export const graphError = (status: number, code: number, more: object = {}) =>
  json(status, {
    error: {
      message: `(#${code}) Something about the request`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details: 'Something about the request in more words' },
      fbtrace_id: 'AfE5pbfsyVCcyL0zA1Xp7Vz',
      ...more,
    },
  })

export const whatsAppCloudFixture: HttpFixture<WhatsAppCloudConfig> = {
  provider: whatsAppCloudProvider,
  configFor: baseUrl => ({
    phoneNumberId: PHONE_NUMBER_ID,
    businessAccountId: BUSINESS_ACCOUNT_ID,
    accessToken: ACCESS_TOKEN,
    appSecret: APP_SECRET,
    verifyToken: VERIFY_TOKEN,
    baseUrl,
  }),
  taken: nth => taken(`wamid.HBgLMTY1MDU1NTEyMzQVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA${nth}`),
  refused: graphError(400, 131026),
  throttled: graphError(429, 130429),
  notNow: graphError(503, 131016),
  tested: json(200, { id: PHONE_NUMBER_ID }),
}

/** A file without a public URL, whose bytes are held in memory. */
export const file = (more: Partial<OutgoingFile> = {}): OutgoingFile => ({
  type: 'image',
  mimetype: 'image/png',
  fileName: 'ship.png',
  open: async () => Readable.from([Buffer.from('not really a picture')]),
  ...more,
})

export const brokenFile = (retryable: boolean) =>
  file({
    sizeBytes: 20,
    open: () => Promise.reject(new FileUnavailable('the attachment is no longer stored', retryable)),
  })

export const template = (more: Partial<OutgoingTemplate> = {}): OutgoingTemplate => ({
  name: 'order_confirmation',
  language: 'en_US',
  providerTemplateId: '594425479261596',
  header: null,
  body: ['Ada', '#1815'],
  buttons: [],
  ...more,
})

const sent = (content: object) => ({
  method: 'POST',
  path: MESSAGES,
  headers: { authorization: `Bearer ${ACCESS_TOKEN}`, 'content-type': 'application/json' },
  json: {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '447700900123',
    biz_opaque_callback_data: 'msg_00000000000000000000000001.1',
    ...content,
  },
})

type Line = Exchange<WhatsAppCloudConfig>

const rejection = (code: number, as: string): Line => ({
  name: `${code}: ${as}`,
  answer: graphError(400, code),
  outcome: { kind: 'rejected', code: as as 'MESSAGE_REJECTED', providerCode: String(code) },
  link: 'up',
})

const ours = (code: number, status = 400): Line => ({
  name: `${code}: retry, and the link is down`,
  answer: graphError(status, code),
  outcome: { kind: 'retry', providerCode: String(code) },
  link: 'down',
})

/** Pauses the lane for longer than the one second of code 130429, unless WhatsApp states a time. */
const resting = (code: number): Line => ({
  name: `${code}: the lane is throttled for a minute`,
  answer: graphError(400, code),
  outcome: { kind: 'throttled', afterMs: 60_000, providerCode: String(code) },
  link: 'up',
})

const later = (code: number, status: number): Line => ({
  name: `${code}: retry`,
  answer: graphError(status, code),
  outcome: { kind: 'retry', providerCode: String(code) },
  link: 'up',
})

export const whatsAppCloudExchanges: readonly Line[] = [
  {
    name: 'a text',
    message: { text: 'Grüße & 1+1=2 "quoted"\n' },
    request: sent({ type: 'text', text: { body: 'Grüße & 1+1=2 "quoted"\n', preview_url: false } }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted', providerId: 'wamid.A' },
    link: 'up',
  },
  {
    name: 'a base URL that contains the API version',
    config: { baseUrl: 'BASE/proxy/v24.0' },
    request: { path: `/proxy/v24.0/${PHONE_NUMBER_ID}/messages` },
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a picture by its URL, with a caption',
    message: { text: 'Our ship', files: [file({ publicUrl: 'https://cdn.example.org/ship.png' })] },
    request: sent({
      type: 'image',
      image: { link: 'https://cdn.example.org/ship.png', caption: 'Our ship' },
    }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a document with its file name',
    message: {
      text: '',
      files: [file({ type: 'document', fileName: 'a b.pdf', publicUrl: 'https://cdn.example.org/1' })],
    },
    request: sent({ type: 'document', document: { link: 'https://cdn.example.org/1', filename: 'a b.pdf' } }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'an audio file',
    message: { text: '', files: [file({ type: 'audio', publicUrl: 'https://cdn.example.org/1' })] },
    request: sent({ type: 'audio', audio: { link: 'https://cdn.example.org/1' } }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'an audio file with a text, which would be lost: rejected without a request',
    message: { text: 'Listen', files: [file({ type: 'audio', publicUrl: 'https://cdn.example.org/1' })] },
    answer: taken('wamid.A'),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED' },
  },
  {
    name: 'a template with values in its body',
    message: { text: 'what the recipient reads', template: template() },
    request: sent({
      type: 'template',
      template: {
        name: 'order_confirmation',
        language: { code: 'en_US' },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Ada' },
              { type: 'text', text: '#1815' },
            ],
          },
        ],
      },
    }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a template without any value',
    message: { template: template({ body: [] }) },
    request: sent({
      type: 'template',
      template: { name: 'order_confirmation', language: { code: 'en_US' }, components: [] },
    }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a template with a header of text, a url button and a coupon',
    message: {
      template: template({
        header: { type: 'text', variables: ['Summer'] },
        body: [],
        buttons: [
          { index: 0, subType: 'url', text: 'order/1815' },
          { index: 2, subType: 'copy_code', text: 'SAVE20' },
        ],
      }),
    },
    request: sent({
      type: 'template',
      template: {
        name: 'order_confirmation',
        language: { code: 'en_US' },
        components: [
          { type: 'header', parameters: [{ type: 'text', text: 'Summer' }] },
          {
            type: 'button',
            sub_type: 'url',
            index: '0',
            parameters: [{ type: 'text', text: 'order/1815' }],
          },
          {
            type: 'button',
            sub_type: 'copy_code',
            index: '2',
            parameters: [{ type: 'coupon_code', coupon_code: 'SAVE20' }],
          },
        ],
      },
    }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a template with a document as its header',
    message: {
      template: template({
        header: {
          type: 'document',
          file: file({ type: 'document', fileName: 'bill.pdf', publicUrl: 'https://cdn.example.org/bill' }),
        },
        body: [],
      }),
    },
    request: sent({
      type: 'template',
      template: {
        name: 'order_confirmation',
        language: { code: 'en_US' },
        components: [
          {
            type: 'header',
            parameters: [
              { type: 'document', document: { link: 'https://cdn.example.org/bill', filename: 'bill.pdf' } },
            ],
          },
        ],
      },
    }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a template with a one-time code in its body and in its button',
    message: { messageType: 'otp', template: template({ name: 'login_code', body: ['483920'] }) },
    request: sent({
      type: 'template',
      template: {
        name: 'login_code',
        language: { code: 'en_US' },
        components: [
          { type: 'body', parameters: [{ type: 'text', text: '483920' }] },
          { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: '483920' }] },
        ],
      },
    }),
    answer: taken('wamid.A'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a permanently unavailable file: rejected without a request',
    message: { files: [brokenFile(false)] },
    answer: taken('wamid.A'),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', detail: 'the attachment is no longer stored' },
  },
  {
    name: 'a message with neither text nor file: rejected without a request',
    message: { text: '' },
    answer: taken('wamid.A'),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED' },
  },
  {
    name: 'two files: rejected without a request',
    message: { files: [file(), file()] },
    answer: taken('wamid.A'),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED' },
  },
  rejection(131026, 'CHATAPP_NOT_REGISTERED'),
  rejection(131021, 'RECIPIENT_REJECTED'),
  rejection(131030, 'RECIPIENT_REJECTED'),
  rejection(131049, 'RECIPIENT_REJECTED'),
  {
    name: '131050: RECIPIENT_REJECTED, and the recipient has opted out',
    answer: graphError(400, 131050),
    outcome: { kind: 'rejected', code: 'RECIPIENT_REJECTED', optedOut: true },
  },
  rejection(131047, 'MESSAGE_REJECTED'),
  rejection(132000, 'MESSAGE_REJECTED'),
  rejection(132001, 'MESSAGE_REJECTED'),
  rejection(132015, 'MESSAGE_REJECTED'),
  rejection(132016, 'MESSAGE_REJECTED'),
  rejection(100, 'MESSAGE_REJECTED'),
  {
    name: '100 with subcode 33, a fault of the sending number: retry, and the link is down',
    answer: graphError(400, 100, { error_subcode: 33 }),
    outcome: { kind: 'retry', providerCode: '33' },
    link: 'down',
  },
  {
    name: 'a refusal with a subcode that is no number: rejected',
    answer: graphError(400, 131009, { error_subcode: { toString: 1 } }),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: '131009' },
    link: 'up',
  },
  ours(190, 401),
  ours(10, 403),
  ours(219),
  ours(368, 403),
  ours(131042),
  ours(131048),
  ours(133010),
  later(2, 503),
  later(131000, 500),
  later(131016, 503),
  later(133004, 503),
  {
    name: '1: unknown, as the message may have been sent',
    answer: graphError(400, 1),
    outcome: { kind: 'unknown', providerCode: '1' },
    link: 'up',
  },
  {
    name: '130429: the lane is throttled for a second',
    answer: graphError(400, 130429),
    outcome: { kind: 'throttled', afterMs: 1_000, providerCode: '130429' },
    link: 'up',
  },
  resting(4),
  resting(17),
  resting(32),
  resting(613),
  resting(80007),
  resting(80008),
  {
    name: 'HTTP 429: throttled for the time in Retry-After',
    answer: { ...graphError(429, 4), headers: { 'Retry-After': '7' } },
    outcome: { kind: 'throttled', afterMs: 7_000, providerCode: '4' },
  },
  {
    name: '131056: only this recipient is throttled',
    answer: graphError(400, 131056),
    outcome: { kind: 'throttled', scope: 'message', afterMs: 1_000, providerCode: '131056' },
    link: 'up',
  },
  {
    name: 'an unknown error code: the outcome of the HTTP status, with the error text of WhatsApp',
    answer: graphError(400, 199_999),
    outcome: {
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
      providerCode: '199999',
      detail: 'The provider refuses the request with HTTP 400: Something about the request in more words',
    },
  },
  {
    name: 'an unknown error code for a one-time code: the error text is not kept',
    message: { messageType: 'otp' },
    answer: graphError(400, 199_999, { error_data: { details: 'Bad code 123456' } }),
    outcome: { kind: 'rejected', detail: 'The provider refuses the request with HTTP 400.' },
  },
  {
    name: 'an error text that contains the access token is not kept',
    answer: graphError(400, 199_999, { error_data: { details: `Malformed token ${ACCESS_TOKEN}` } }),
    outcome: { kind: 'rejected', detail: 'The provider refuses the request with HTTP 400.' },
  },
  {
    name: 'HTTP 500 without an error code: unknown',
    answer: { status: 500, body: '' },
    outcome: { kind: 'unknown', providerCode: 'HTTP 500' },
  },
  {
    name: 'HTTP 500 with an unknown error code: unknown',
    answer: graphError(500, 199_999),
    outcome: { kind: 'unknown', providerCode: '199999' },
  },
  {
    name: 'a successful response without an id',
    answer: { status: 200, body: '{"messaging_product":"whatsapp"}' },
    outcome: { kind: 'unknown', providerCode: 'HTTP 200' },
  },
  {
    name: 'a successful response with an HTML page',
    answer: { status: 200, body: '<html>Welcome to the hotel network</html>' },
    outcome: { kind: 'unknown' },
  },
]
