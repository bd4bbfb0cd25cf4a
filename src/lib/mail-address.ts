import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/** RFC 5321, 4.5.3.1: the longest path that every server must accept, without its angle brackets. */
const MAX_BYTES = 254

/**
 * The address with its domain in ASCII (punycode), as DNS and all mail servers expect it. Null if that is not
 * a valid domain name, or the address is too long. The local part is not changed.
 */
export function joinAddress(local: string, domain: string): { address: string; domain: string } | null {
  const ascii = asciiDomain(domain)
  return ascii === null ? null : withinLength(local, ascii)
}

/** `joinAddress` for a domain that needs no conversion, such as an address literal. */
export function withinLength(local: string, domain: string): { address: string; domain: string } | null {
  const address = `${local}@${domain}`
  return Buffer.byteLength(address) > MAX_BYTES ? null : { address, domain }
}

/** Checks before and after the conversion: `domainToASCII` is made for URLs, and also accepts `b/c` and `127.1`. */
function asciiDomain(domain: string): string | null {
  const labels = /^[a-z0-9\u0080-\uffff-]+(?:\.[a-z0-9\u0080-\uffff-]+)*$/i
  const ascii = labels.test(domain) ? domainToASCII(domain) : ''
  return /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/.test(ascii) && isIP(ascii) === 0 ? ascii : null
}
