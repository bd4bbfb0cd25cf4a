import type { InboundMessage, InboundPart } from '../../contract/reported-message.ts'
import { parseTime } from '../http/inbound.ts'
import { withPlus } from '../shared/sms.ts'

/**
 * A message to one of the account's numbers; null for another call, and for a message without text.
 * A long message arrives in parts. Source: https://developer.vonage.com/en/messaging/sms/guides/inbound-sms.
 */
export function readMessage(fields: Readonly<Record<string, string>>): InboundMessage | null {
  const { messageId, msisdn, to, text, status } = fields
  if (status !== undefined || !messageId || !msisdn || !to || text === undefined) return null
  const part = partOf(fields)
  return {
    kind: 'message',
    eventId: messageId,
    channel: 'int_sms',
    from: withPlus(msisdn),
    to: withPlus(to),
    text,
    button: null,
    atMs: parseTime(fields['message-timestamp']),
    ...(part && { part }),
  }
}

/** A binary SMS, which has no text. It is taken and dropped: if it were refused, Vonage would repeat it for a day. */
export function isBinary({ type, data, msisdn }: Readonly<Record<string, string>>): boolean {
  return type === 'binary' && data !== undefined && msisdn !== undefined
}

function partOf(fields: Readonly<Record<string, string>>): InboundPart | null {
  if (fields['concat'] !== 'true') return null
  const [reference, number, total] = ['concat-ref', 'concat-part', 'concat-total'].map(name =>
    Number(fields[name] ?? Number.NaN),
  ) as [number, number, number]
  return [reference, number, total].every(Number.isInteger) ? { reference, number, total } : null
}
