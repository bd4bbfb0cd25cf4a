import { Type } from 'typebox'
import { withPattern } from '../../contract/pattern.ts'
import { SENDER_FAULT, SENDER_PATTERN } from '../shared/sms.ts'

/** Concurrent requests by default. */
export const CONNECTIONS = 20

/** Fields of every provider that speaks HTTP. */
export const HTTP_FIELDS = {
  maxConnections: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: CONNECTIONS,
      description: 'Most requests in progress at once.',
    }),
  ),
  messagesPerSecond: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: 'Absent: no limit.' }),
  ),
}

/** A base URL other than the provider's usual one. */
export const BaseUrl = (usual: string) =>
  Type.String({
    maxLength: 500,
    ...withPattern(
      '^https?://[^\\s/?#@]+(?:/[^\\s?#]*)?$',
      'must be an http or https URL without a query, such as https://example.com/path',
    ),
    description: `For a regional endpoint or a proxy. Absent: ${usual}.`,
  })

export const Secret = (description: string, maxLength = 500) =>
  Type.String({
    minLength: 1,
    maxLength,
    ...withPattern('^[\\x21-\\x7e]+$', 'must be letters, digits and signs of ASCII, without spaces'),
    description,
    format: 'password',
  })

/** The sender of messages that name none. */
export const Sender = Type.String({
  minLength: 1,
  maxLength: 20,
  ...withPattern(`^(?:${SENDER_PATTERN})$`, SENDER_FAULT),
  description: 'The sender of messages that name none.',
})

/** The path of `url` without a slash at its end, to append other paths. */
export function pathOf(url: URL): string {
  return url.pathname.replace(/\/+$/, '')
}

/** The settings of a link's lane. */
export function laneSettings(config: { maxConnections?: number; messagesPerSecond?: number }) {
  return {
    concurrency: config.maxConnections ?? CONNECTIONS,
    ...(config.messagesPerSecond !== undefined && { messagesPerSecond: config.messagesPerSecond }),
  }
}
