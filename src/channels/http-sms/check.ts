import { namesIn, PLACEHOLDERS } from './template.ts'

/** What is looked at; the schema has checked the shapes. */
type Checked = {
  request: { method?: string; url: string; form?: unknown; json?: unknown; xml?: unknown }
  answer: { format: string; id: string; status?: string; error?: string; errorText?: string }
  receipts?: { proof: { by: string; secret?: string } }
  inbound?: { proof: { by: string; secret?: string } }
  probe?: { url: string }
  secrets?: Record<string, string>
}

/** Why no message could ever be sent with this configuration, for the operator; null where it can. */
export function faultOf({ request, answer, receipts, inbound, probe, secrets = {} }: Checked): string | null {
  const sealed = Object.keys(secrets).map(name => `secret.${name}`)
  const known = new Set<string>([...PLACEHOLDERS, ...sealed])
  const strange = namesIn(request).find(name => !known.has(name))
  if (strange !== undefined) return `request: there is no value {{${strange}}}`
  const bodies = [request.form, request.json, request.xml].filter(body => body !== undefined)
  if (bodies.length > 1) return 'request: one body at most, form, json or xml'
  if (bodies.length > 0 && request.method === 'GET') return 'request: a GET has no body'
  const unsealed = namesIn(probe).find(name => !sealed.includes(name))
  if (unsealed !== undefined) return `probe: there is no secret {{${unsealed}}}`
  if (probe && originOf(probe.url) !== originOf(request.url)) return 'probe: must ask the host of request.url'
  for (const [name, form] of Object.entries({ receipts, inbound })) {
    const secret = form?.proof.secret
    if (secret !== undefined && !Object.hasOwn(secrets, secret))
      return `${name}.proof: there is no secret ${secret}`
  }
  return answer.format === 'text' ? expressionFault(answer) : null
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
