import type { InboundReply } from '../../contract/inbound.ts'
import type { InboundAnswer } from '../provider.ts'

/** Twilio sends plain text back to whoever wrote; this says nothing to them. */
const NO_ANSWER: InboundReply = { status: 200, contentType: 'text/xml', body: '<Response/>' }

/** Twilio's word for a message that came in: every callback on one of ours has another status. */
const RECEIVED = 'received'

/**
 * A message to one of the account's numbers; null for another call. Twilio joins long ones.
 * Source: https://www.twilio.com/docs/messaging/guides/webhook-request.
 */
export function readMessage(form: URLSearchParams): InboundAnswer | null {
  const eventId = form.get('MessageSid') || form.get('SmsSid')
  const [from, to, text] = [form.get('From'), form.get('To'), form.get('Body')]
  if (form.get('SmsStatus') !== RECEIVED || !eventId || !from || !to || text === null) return null
  // Its other channels write `whatsapp:+1…`: this connection carries SMS.
  if (from.includes(':')) return { kind: 'taken', inbound: [], reply: NO_ANSWER }
  return {
    kind: 'taken',
    inbound: [{ kind: 'message', eventId, channel: 'int_sms', from, to, text, button: null, atMs: null }],
    reply: NO_ANSWER,
  }
}
