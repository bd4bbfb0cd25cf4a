import { isHeaderText, PLACEHOLDERS, placeholdersIn } from './template.ts'

/** The fields that are checked here; the schema has checked their types. */
type Checked = {
  request: { method?: string; url: string; headers?: Headers; form?: unknown; json?: unknown; xml?: unknown }
  answer: {
    format: string
    id?: string
    status?: string
    takenStatuses?: string[]
    error?: string
    errorText?: string
  }
  receipts?: WebhookForm
  inbound?: WebhookForm
  probe?: { url: string; headers?: Headers }
  secrets?: Record<string, string>
}
type Headers = Record<string, string>
type WebhookForm = { format: string; proof: { by: string; secret?: string } }

/** What is wrong with a configuration, for the operator; null where it is valid. */
export function configError({
  request,
  answer,
  receipts,
  inbound,
  probe,
  secrets = {},
}: Checked): string | null {
  const secretNames = Object.keys(secrets).map(name => `secret.${name}`)
  const known = new Set<string>([...PLACEHOLDERS, ...secretNames])
  const strange = placeholdersIn(request).find(name => !known.has(name))
  if (strange !== undefined) return `request: unknown placeholder {{${strange}}}`
  const bodies = [request.form, request.json, request.xml].filter(body => body !== undefined)
  if (bodies.length > 1) return 'request: give one body at most: form, json or xml'
  if (bodies.length > 0 && request.method === 'GET') return 'request: a GET cannot have a body'
  const unsealed = placeholdersIn(probe).find(name => !secretNames.includes(name))
  if (unsealed !== undefined) return `probe: there is no secret {{${unsealed}}}`
  if (probe && originOf(probe.url) !== originOf(request.url))
    return 'probe: its URL must have the host of request.url'
  for (const [name, { headers = {} }] of Object.entries({ request, ...(probe && { probe }) })) {
    const fault = headerFault(headers)
    if (fault !== null) return `${name}.headers: ${fault}`
  }
  for (const [name, form] of Object.entries({ receipts, inbound })) {
    const secret = form?.proof.secret
    if (secret !== undefined && !Object.hasOwn(secrets, secret))
      return `${name}.proof: there is no secret ${secret}`
    // Such a signature does not cover the query: whoever has seen one call could forge others with it.
    if (form?.format === 'query' && form.proof.by === 'hmac')
      return `${name}.proof: an HMAC covers only the body, which does not hold the fields of the format query`
  }
  if (answer.id === undefined && (answer.status === undefined || answer.takenStatuses === undefined))
    return 'answer.id: required unless answer.status and answer.takenStatuses are given'
  return answer.format === 'text' ? expressionFault(answer) : null
}

/** A token of HTTP (RFC 9110, 5.6.2). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

function headerFault(headers: Headers): string | null {
  const strange = Object.keys(headers).find(name => !HEADER_NAME.test(name))
  if (strange !== undefined) return `"${strange}" is not a valid header name`
  const broken = Object.entries(headers).find(([, value]) => !isHeaderText(value))
  return broken ? `${broken[0]} has characters that are not allowed in a header` : null
}

function originOf(url: string): string {
  return /^https?:\/\/[^/?]+/.exec(url)![0].toLowerCase()
}

function expressionFault(answer: Checked['answer']): string | null {
  for (const name of ['id', 'status', 'error', 'errorText'] as const) {
    const text = answer[name]
    if (text !== undefined && !isExpression(text)) return `answer.${name}: must be a regular expression`
  }
  return null
}

function isExpression(text: string): boolean {
  try {
    return new RegExp(text, 'u').source !== ''
  } catch {
    return false
  }
}
