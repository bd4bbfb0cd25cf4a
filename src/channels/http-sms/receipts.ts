import { createHmac } from 'node:crypto'
import type { InboundRequest } from '../../contract/inbound.ts'
import { bearsToken, formOf, jsonOf, malformed, sameText, timeOf, UNAUTHORIZED } from '../http/inbound.ts'
import { entryOf } from '../http/table.ts'
import type { InboundAnswer, Receipt } from '../provider.ts'
import type { ReceiptForm } from './config.ts'
import { textAt, valueAt } from './path.ts'

/** Most receipts of one call. */
const MOST_RECEIPTS = 1_000

/** One field of a receipt by the form's name for it; null where it is missing. */
type Field = (name: string | undefined) => string | null

/** A call from the gateway, if it proves to be from there. */
export function readCall(
  request: InboundRequest,
  form: ReceiptForm,
  secrets: Readonly<Record<string, string>>,
  token: string,
): InboundAnswer {
  if (!isProved(request, form.proof, secrets, token)) return UNAUTHORIZED
  const receipts = fieldsOf(request, form)
  if (receipts === null) return malformed('the body is not what the connection expects')
  if (receipts.length > MOST_RECEIPTS) return malformed(`there are more than ${MOST_RECEIPTS} receipts`)
  const inbound = receipts.map(field => receiptOf(field, form)).filter(receipt => receipt !== null)
  return { kind: 'taken', inbound, ...(form.reply && { reply: form.reply }) }
}

function isProved(
  request: InboundRequest,
  proof: ReceiptForm['proof'],
  secrets: Readonly<Record<string, string>>,
  token: string,
): boolean {
  if (proof.by === 'token') return bearsToken(request, token)
  const secret = secrets[proof.secret]!
  if (proof.by === 'basic') {
    const pair = Buffer.from(`${proof.user}:${secret}`).toString('base64')
    return sameText(request.headers['authorization'] ?? '', `Basic ${pair}`)
  }
  const signature = createHmac(proof.algorithm, secret).update(request.body).digest(proof.encoding)
  const given = request.headers[proof.header.toLowerCase()] ?? ''
  return sameText(given, (proof.prefix ?? '') + signature)
}

function fieldsOf(request: InboundRequest, form: ReceiptForm): Field[] | null {
  if (form.format !== 'json') {
    const fields = form.format === 'query' ? new URLSearchParams(request.query) : formOf(request)
    return [name => (name === undefined ? null : fields.get(name))]
  }
  const json = jsonOf(request.body)
  const items = json && (form.items === undefined ? [json] : valueAt(json, form.items))
  if (!Array.isArray(items)) return null
  return items.map(item => (path: string | undefined) => (path === undefined ? null : textAt(item, path)))
}

/** One that says nothing known is passed over: the others of the same call are not to be lost for it. */
function receiptOf(field: Field, form: ReceiptForm): Receipt | null {
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
    atMs: momentOf(field(form.at), form.atFormat ?? 'iso'),
    providerCode: code === null || code === '' ? null : code.slice(0, 100),
    detail: null,
  }
}

function momentOf(text: string | null, format: 'iso' | 'seconds' | 'milliseconds'): number | null {
  if (format === 'iso' || text === null) return timeOf(text)
  const ms = Number(text) * (format === 'seconds' ? 1_000 : 1)
  return text !== '' && Number.isFinite(ms) && ms > 0 && ms < 8.64e15 ? Math.floor(ms) : null
}
