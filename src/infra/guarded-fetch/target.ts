import { isIP, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A URL that is allowed, as far as that is known without resolving its name. */
export type Target = { url: URL; host: string; port: number; allowed: boolean }

/** A host that the operator allows; `port` null means every port. */
export type AllowedHost = { host: string; port: number | null }

/** Longer than what browsers and proxies support everywhere. */
const MAX_URL_LENGTH = 2_048

/** What the URL parser removes silently: the text is also given to services that fetch it, and they may not. */
const STRIPPED = /^ | $|\p{Cc}/u

/** The only IPv6 block of public addresses (IANA); the rest is for special uses. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Parses a URL, or returns a text that says why it is not allowed. The URL parser normalizes all spellings of
 * an IPv4 address (decimal, octal, hex, short, full-width), so that only one needs to be checked.
 */
export function readTarget(text: string, allowed: readonly AllowedHost[]): Target | string {
  if (text.length > MAX_URL_LENGTH) return `The URL is longer than ${MAX_URL_LENGTH} characters.`
  if (!URL.canParse(text)) return 'The URL is not valid.'
  if (STRIPPED.test(text)) return 'The URL is not valid: it has spaces around it, or control characters.'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'The URL must begin with https.'
  if (url.username !== '' || url.password !== '') return 'The URL must not contain a user name or password.'
  const host = bareHost(url.hostname)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  if (isAllowed(host, port, allowed)) return { url, host, port, allowed: true }
  if (url.protocol !== 'https:') return 'The URL must begin with https.'
  if (host === '') return 'The URL is not valid.'
  if (isLocalName(host) || (isIP(host) !== 0 && !isPublicAddress(host))) {
    return 'The URL must point to a public address.'
  }
  return { url, host, port, allowed: false }
}

/** Removes the brackets of an IPv6 address, and a final dot. */
function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function isAllowed(host: string, port: number, allowed: readonly AllowedHost[]): boolean {
  return allowed.some(one => one.host === host && (one.port === null || one.port === port))
}

/** RFC 6761, 6.3: these names are this machine, whatever a name server says. */
function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

/**
 * Whether an address is on the public internet. Addresses that contain another address (mapped, compatible,
 * NAT64, 6to4, Teredo) count as not public, whatever they contain.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST)
}

/**
 * Parses an entry of the operator: a host or an address, optionally with a port. Throws on anything else,
 * since an entry that silently matches nothing or everything would be worse.
 */
export function parseAllowedHost(entry: string): AllowedHost {
  const text = entry.trim()
  const [, name, digits] = isIPv6(text) ? [text, `[${text}]`] : (/^(.+?)(?::(\d{1,5}))?$/.exec(text) ?? [])
  const plain = name !== undefined && !/[\s/?#@*\\]/.test(name)
  if (!plain || !URL.canParse(`http://${name}/`) || Number(digits ?? 1) > 65_535) {
    throw new Error(`"${entry}" is not a host name or an IP address, with or without a port`)
  }
  return {
    host: bareHost(new URL(`http://${name}/`).hostname),
    port: digits === undefined ? null : Number(digits),
  }
}
