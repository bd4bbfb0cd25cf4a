import type { InboundMessage } from '../../contract/reported-message.ts'
import { parseTime } from '../http/inbound.ts'
import { withPlus } from '../shared/sms.ts'

/**
 * A message to one of the account's numbers; null for a delivery report or anything else.
 * Infobip joins the parts of long messages. Source: https://www.infobip.com/docs/api/channels/sms/inbound-sms.
 */
export function readMessage(result: unknown): InboundMessage | null {
  const { messageId, from, to, text, receivedAt, status } = (result ?? {}) as Record<string, unknown>
  const named = [messageId, from, to].every(each => typeof each === 'string' && each !== '')
  if (status !== undefined || !named || typeof text !== 'string') return null
  return {
    kind: 'message',
    eventId: messageId as string,
    channel: 'int_sms',
    from: withPlus(from as string),
    to: withPlus(to as string),
    text,
    button: null,
    atMs: parseTime(receivedAt),
  }
}
