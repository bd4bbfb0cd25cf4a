import type { InboundRequest } from '../../contract/inbound.ts'
import type { InboundResult, Receipt } from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import { codeWithout } from './code-without.ts'
import type { ReceiptForm } from './config.ts'
import { type Field, parseTimestamp, readItems } from './webhook.ts'

/** The receipts of a call, if it proves to be from the gateway. */
export function readReceipts(
  request: InboundRequest,
  form: ReceiptForm,
  secrets: Readonly<Record<string, string>>,
  token: string,
): InboundResult {
  return readItems(request, form, secrets, token, field => receiptOf(field, form, Object.values(secrets)))
}

/** Null for an unknown status: skipped, so that the others of the same call are not lost. */
function receiptOf(field: Field, form: ReceiptForm, secrets: readonly string[]): Receipt | null {
  const [providerId, said] = [field(form.id), field(form.status)]
  const status = entryOf(form.statuses, said ?? '') ?? 'ignored'
  if (!providerId || status === 'ignored') return null
  const code = field(form.code)
  const attemptId = field(form.attempt)
  return {
    kind: 'receipt',
    providerId: providerId.slice(0, 200),
    ...(attemptId && { attemptId }),
    status,
    atMs: parseTimestamp(field(form.at), form.atFormat ?? 'iso'),
    // The message is not known here: apply_receipts keeps no code that quotes it.
    providerCode: code === null || code === '' ? null : codeWithout(secrets, code),
    detail: null,
  }
}
