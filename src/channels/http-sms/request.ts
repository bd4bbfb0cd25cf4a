import { countSms } from '../../lib/sms-parts.ts'
import type { HttpRequest } from '../http/client.ts'
import type { Outgoing } from '../provider.ts'
import { withoutPlus } from '../shared/sms.ts'
import type { HttpSmsConfig } from './config.ts'
import { fill, fillFields, fillJson, fillXml, isHeaderText, type Values } from './template.ts'

export type RequestBuilder = {
  /** The request for one message; null where one of its values is not allowed in a header, the URL or XML. */
  forMessage(message: Outgoing, receiptUrl: string | null): HttpRequest | null
  probe: HttpRequest | null
}

export function createRequestBuilder(config: HttpSmsConfig): RequestBuilder {
  const { request, secrets = {} } = config
  const secretValues = Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [`secret.${name}`, value]),
  )

  function forMessage(message: Outgoing, receiptUrl: string | null): HttpRequest | null {
    const values = { ...valuesOf(message, config.from ?? null, receiptUrl), ...secretValues }
    const path = pathOf(request.url, request.query ?? {}, values)
    const headers = fillFields(request.headers ?? {}, values)
    if (path === null || !Object.values(headers).every(isHeaderText)) return null
    const body = bodyOf(request, values)
    if (body !== null && body.text === null) return null
    // A Content-Type that the operator configured wins.
    const named = Object.keys(headers).some(name => name.toLowerCase() === 'content-type')
    const type: Record<string, string> = body === null || named ? {} : { 'Content-Type': body.type }
    return {
      method: request.method ?? 'POST',
      path,
      headers: { ...type, ...headers },
      ...(body?.text != null && { body: body.text }),
    }
  }

  function probe(): HttpRequest | null {
    if (config.probe === undefined) return null
    const path = pathOf(config.probe.url, {}, secretValues)
    return path === null
      ? null
      : { method: 'GET', path, headers: fillFields(config.probe.headers ?? {}, secretValues) }
  }

  return { forMessage, probe: probe() }
}

function valuesOf(message: Outgoing, ownSender: string | null, receiptUrl: string | null): Values {
  const from = message.from ?? ownSender
  const { encoding } = countSms(message.text)
  return {
    to: message.to,
    toDigits: withoutPlus(message.to),
    from,
    fromDigits: from === null ? null : withoutPlus(from),
    text: message.text,
    encoding,
    coding: encoding === 'UCS-2' ? '2' : '0',
    dataCoding: encoding === 'UCS-2' ? '8' : '0',
    attemptId: message.attemptId,
    messageId: message.messageId,
    messageType: message.messageType,
    receiptUrl,
  }
}

/** Path and query; null where a value that the path needs is missing, or makes a segment of dots. */
function pathOf(url: string, query: Readonly<Record<string, string>>, values: Values): string | null {
  const template = /^https?:\/\/[^/?]+(.*)$/s.exec(url)![1]!
  const filled = fill(template, values, encodeURIComponent)
  if (filled === null || /[^\x21-\x7e]/.test(filled)) return null
  if (hasDotSegment(filled) && !hasDotSegment(template)) return null
  const fields = new URLSearchParams(fillFields(query, values)).toString()
  const joint = fields === '' ? '' : filled.includes('?') ? '&' : '?'
  const rooted = filled.startsWith('/') ? filled : `/${filled}`
  return rooted + joint + fields
}

/** Servers resolve such a segment to another path (RFC 3986, 5.2.4), and percent-encoding does not prevent it. */
function hasDotSegment(path: string): boolean {
  return /^[^?]*\/\.{1,2}(?:[/?]|$)/.test(path)
}

function bodyOf(
  { form, json, xml }: HttpSmsConfig['request'],
  values: Values,
): { type: string; text: string | null } | null {
  if (form !== undefined) {
    const text = new URLSearchParams(fillFields(form, values)).toString()
    return { type: 'application/x-www-form-urlencoded', text }
  }
  if (json !== undefined)
    return { type: 'application/json', text: JSON.stringify(fillJson(json, values) ?? {}) }
  return xml === undefined ? null : { type: 'application/xml; charset=utf-8', text: fillXml(xml, values) }
}
