import type { InboundRequest } from '../../contract/inbound.ts'
import type { InboundMessage } from '../../contract/reported-message.ts'
import type { InboundResult } from '../provider.ts'
import { withPlus } from '../shared/sms.ts'
import type { MessageForm } from './config.ts'
import { type Field, parseTimestamp, readItems } from './webhook.ts'

/** The query parameter that marks the webhook URL for inbound messages, as opposed to receipts. */
const INBOUND_FIELD = 'in'

/** Whether a call brings inbound messages; other calls bring receipts. */
export function isInboundCall(request: InboundRequest): boolean {
  return new URLSearchParams(request.query).get(INBOUND_FIELD) === '1'
}

/** The inbound messages of a call, if it proves to be from the gateway. */
export function readMessages(
  request: InboundRequest,
  form: MessageForm,
  secrets: Readonly<Record<string, string>>,
  token: string,
  spareId: () => string,
): InboundResult {
  return readItems(request, form, secrets, token, field => messageOf(field, form, spareId))
}

/** Null without sender, recipient or text: skipped, so that the others of the same call are not lost. */
function messageOf(field: Field, form: MessageForm, spareId: () => string): InboundMessage | null {
  // Of a plus that the gateway did not encode, a query or a form has made a space.
  const [from, to] = [field(form.from)?.trim(), field(form.to)?.trim()]
  const text = field(form.text)
  if (!from || !to || text === null) return null
  return {
    kind: 'message',
    eventId: field(form.id) || spareId(),
    channel: 'int_sms',
    from: withPlus(from),
    to: withPlus(to),
    text,
    button: null,
    atMs: parseTimestamp(field(form.at), form.atFormat ?? 'iso'),
  }
}
