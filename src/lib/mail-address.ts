import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/** RFC 5321, 4.5.3.1: the longest path a server must take, without its angle brackets. */
const LONGEST_BYTES = 254

/**
 * The address with its domain in the form that DNS and any mail server understand; null where no
 * name there is such a domain, or where both together are too long. The local part stays as it is.
 */
export function joinAddress(local: string, domain: string): { address: string; domain: string } | null {
  const ascii = asciiDomain(domain)
  return ascii === null ? null : withinLength(local, ascii)
}

/** The same with a domain that is in its form already, such as an address literal. */
export function withinLength(local: string, domain: string): { address: string; domain: string } | null {
  const address = `${local}@${domain}`
  return Buffer.byteLength(address) > LONGEST_BYTES ? null : { address, domain }
}

/** The converter is a URL's: it also reads `b/c` and `127.1` as hosts, so both ends are checked. */
function asciiDomain(domain: string): string | null {
  const labels = /^[a-z0-9\u0080-\uffff-]+(?:\.[a-z0-9\u0080-\uffff-]+)*$/i
  const ascii = labels.test(domain) ? domainToASCII(domain) : ''
  return /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/.test(ascii) && isIP(ascii) === 0 ? ascii : null
}
