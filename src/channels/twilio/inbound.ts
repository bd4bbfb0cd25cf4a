import type { AttachmentType } from '../../contract/enums.ts'
import type { InboundReply } from '../../contract/inbound.ts'
import type { InboundMedia, InboundMessage } from '../../contract/reported-message.ts'
import type { InboundResult } from '../provider.ts'
import { entryOf } from '../shared/table.ts'

/** Twilio sends a plain-text answer to the author as a message; an empty TwiML response sends nothing. */
const EMPTY_TWIML: InboundReply = { status: 200, contentType: 'text/xml', body: '<Response/>' }

const MAX_MEDIA = 10

/**
 * What a message means by the keywords of a Messaging Service with Advanced Opt-Out, which may be any words in any language:
 * Twilio itself stops or starts sending to its author. HELP decides nothing.
 * Source: https://www.twilio.com/docs/messaging/tutorials/advanced-opt-out.
 */
const DECISIONS: Readonly<Record<string, InboundMessage['decision']>> = { STOP: 'stop', START: 'start' }

/**
 * A message to one of the account's numbers; null for another call. Twilio joins long ones.
 * Source: https://www.twilio.com/docs/messaging/guides/webhook-request.
 */
export function readMessage(form: URLSearchParams): InboundResult | null {
  const eventId = form.get('MessageSid') || form.get('SmsSid')
  const [from, to, text] = [form.get('From'), form.get('To'), form.get('Body')]
  if (!isInbound(form) || !eventId || !from || !to || text === null) return null
  // Twilio's other channels write `whatsapp:+1…`; this connection carries SMS only.
  if (from.includes(':')) return { kind: 'taken', inbound: [], reply: EMPTY_TWIML }
  const media = mediaOf(form)
  const decision = entryOf(DECISIONS, form.get('OptOutType') ?? '')
  const message: InboundMessage = {
    kind: 'message',
    eventId,
    channel: 'int_sms',
    from,
    to,
    text,
    button: null,
    ...(media.length > 0 && { media }),
    ...(decision && { decision }),
    atMs: null,
  }
  return { kind: 'taken', inbound: [message], reply: EMPTY_TWIML }
}

/** Inbound messages have the status `received`, though Twilio does not document it; status callbacks have other ones. */
function isInbound(form: URLSearchParams): boolean {
  return (form.get('SmsStatus') || form.get('MessageStatus') || 'received') === 'received'
}

/** The files of an MMS. Twilio redirects to other hosts for them, so they are described but cannot be opened. */
function mediaOf(form: URLSearchParams): InboundMedia[] {
  const count = Math.min(Number(form.get('NumMedia')) || 0, MAX_MEDIA)
  return Array.from({ length: count }, (_, at) => {
    const mimetype = form.get(`MediaContentType${at}`)
    return { type: typeOf(mimetype), mimetype, fileName: null, sizeBytes: null, reference: null }
  })
}

function typeOf(mimetype: string | null): AttachmentType {
  const [kind] = (mimetype ?? '').split('/', 1)
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document'
}
