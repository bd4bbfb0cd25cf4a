import { countSms } from '../../lib/sms-parts.ts'
import type { HttpRequest } from '../http/client.ts'
import { withoutPlus } from '../http/sms.ts'
import type { Outgoing } from '../provider.ts'
import type { HttpSmsConfig } from './config.ts'
import { fill, fillFields, fillJson, fillXml, namesIn, PLACEHOLDERS, type Values } from './template.ts'

export type RequestMaker = {
  /** The request for one message; null where one of its values cannot stand in a header or the address. */
  forMessage(message: Outgoing, receiptUrl: string | null): HttpRequest | null
  probe: HttpRequest | null
}

/** Throws where the template can never be filled: the operator is told by the connection's failing to open. */
export function createRequestMaker(config: HttpSmsConfig): RequestMaker {
  const { request, secrets = {} } = config
  const sealed = Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`secret.${name}`, value]))
  checkTemplate(config, sealed)

  function forMessage(message: Outgoing, receiptUrl: string | null): HttpRequest | null {
    const values = { ...valuesOf(message, config.from ?? null, receiptUrl), ...sealed }
    const path = pathOf(request.url, request.query ?? {}, values)
    const headers = fillFields(request.headers ?? {}, values)
    if (path === null || Object.values(headers).some(value => /[^\t\x20-\x7e]/.test(value))) return null
    const body = bodyOf(request, values)
    // A type that the operator names wins.
    const named = Object.keys(headers).some(name => name.toLowerCase() === 'content-type')
    const type: Record<string, string> = body === null || named ? {} : { 'Content-Type': body.type }
    return {
      method: request.method ?? 'POST',
      path,
      headers: { ...type, ...headers },
      ...(body && { body: body.text }),
    }
  }

  function probe(): HttpRequest | null {
    if (config.probe === undefined) return null
    const path = pathOf(config.probe.url, {}, sealed)
    return path === null
      ? null
      : { method: 'GET', path, headers: fillFields(config.probe.headers ?? {}, sealed) }
  }

  return { forMessage, probe: probe() }
}

function checkTemplate({ request, probe, receipts }: HttpSmsConfig, sealed: Values): void {
  const known = new Set<string>([...PLACEHOLDERS, ...Object.keys(sealed)])
  const strange = namesIn(request).filter(name => !known.has(name))
  strange.push(...namesIn(probe).filter(name => !(name in sealed)))
  if (strange.length > 0) throw new Error(`the template names what there is not: ${strange.join(', ')}`)
  const bodies = [request.form, request.json, request.xml].filter(body => body !== undefined)
  if (bodies.length > 1) throw new Error('a request has one body: form, json or xml')
  if (bodies.length > 0 && request.method === 'GET') throw new Error('a GET has no body')
  if (probe && new URL(probe.url).origin !== new URL(request.url).origin)
    throw new Error('the probe must ask the host that messages go to')
  const secret = receipts && 'secret' in receipts.proof ? receipts.proof.secret : undefined
  if (secret !== undefined && !(`secret.${secret}` in sealed))
    throw new Error(`receipts are proved by a secret that there is not: ${secret}`)
}

function valuesOf(message: Outgoing, ownSender: string | null, receiptUrl: string | null): Values {
  const from = message.from ?? ownSender
  return {
    to: message.to,
    toDigits: withoutPlus(message.to),
    from,
    fromDigits: from === null ? null : withoutPlus(from),
    text: message.text,
    encoding: countSms(message.text).encoding,
    attemptId: message.attemptId,
    messageId: message.messageId,
    messageType: message.messageType,
    receiptUrl,
  }
}

/** From the root, query included; a value that is missing in the address itself makes it useless. */
function pathOf(url: string, query: Readonly<Record<string, string>>, values: Values): string | null {
  const filled = fill(/^https?:\/\/[^/?]+(.*)$/s.exec(url)![1]!, values, encodeURIComponent)
  if (filled === null || /[^\x21-\x7e]/.test(filled)) return null
  const fields = new URLSearchParams(fillFields(query, values)).toString()
  const joint = fields === '' ? '' : filled.includes('?') ? '&' : '?'
  const rooted = filled.startsWith('/') ? filled : `/${filled}`
  return rooted + joint + fields
}

function bodyOf(
  { form, json, xml }: HttpSmsConfig['request'],
  values: Values,
): { type: string; text: string } | null {
  if (form !== undefined) {
    const text = new URLSearchParams(fillFields(form, values)).toString()
    return { type: 'application/x-www-form-urlencoded', text }
  }
  if (json !== undefined) return { type: 'application/json', text: JSON.stringify(fillJson(json, values)) }
  return xml === undefined ? null : { type: 'application/xml; charset=utf-8', text: fillXml(xml, values) }
}
