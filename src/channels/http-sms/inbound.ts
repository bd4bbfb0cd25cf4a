import type { InboundRequest } from '../../contract/inbound.ts'
import type { InboundAnswer, InboundMessage } from '../provider.ts'
import { withPlus } from '../shared/sms.ts'
import { type Field, momentOf, readItems } from './call.ts'
import type { MessageForm } from './config.ts'

/** In the query of the address that the gateway was given for messages, to tell them from receipts. */
const INBOUND_FIELD = 'in'

/** Whether a call brings messages from people; one that does not brings receipts. */
export function bringsMessages(request: InboundRequest): boolean {
  return new URLSearchParams(request.query).get(INBOUND_FIELD) === '1'
}

/** The messages of a call from the gateway, if it proves to be from there. */
export function readMessages(
  request: InboundRequest,
  form: MessageForm,
  secrets: Readonly<Record<string, string>>,
  token: string,
  spareId: () => string,
): InboundAnswer {
  return readItems(request, form, secrets, token, field => messageOf(field, form, spareId))
}

/** One without sender, recipient or text is passed over: the others of the same call are not to be lost for it. */
function messageOf(field: Field, form: MessageForm, spareId: () => string): InboundMessage | null {
  const [from, to, text] = [field(form.from), field(form.to), field(form.text)]
  if (!from || !to || text === null) return null
  return {
    kind: 'message',
    eventId: field(form.id) || spareId(),
    channel: 'int_sms',
    from: withPlus(from),
    to: withPlus(to),
    text,
    button: null,
    atMs: momentOf(field(form.at), form.atFormat ?? 'iso'),
  }
}
