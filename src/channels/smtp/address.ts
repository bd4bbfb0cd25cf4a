import { joinAddress, withinLength } from '../../lib/mail-address.ts'

/** One mailbox; its domain is in ASCII (A-labels), as DNS and every mail server understand it. */
export type Mailbox = { name: string; address: string; domain: string }

/** The name of a mailbox and its address, or a bare address; a comma outside of quotes would begin a second one, a colon a group (RFC 5322). */
const MAILBOX = /^\s*(?:((?:"(?:[^"\\]|\\.)*"|[^",;:<>\\])*)<([^<>]*)>|([^<>]*))\s*$/s

/**
 * Reads `a@b.example` or `Name <a@b.example>`; null where that is not exactly one mailbox.
 * The name is unfolded, so that it can never begin a header of its own.
 */
export function parseMailbox(text: string): Mailbox | null {
  const [, name = '', bracketed, bare = ''] = MAILBOX.exec(text) ?? []
  const mailbox = parseAddress((bracketed ?? bare).trim())
  return mailbox && { ...mailbox, name: unquote(name) }
}

function unquote(name: string): string {
  return name
    .replace(/"((?:[^"\\]|\\.)*)"/gs, (_, quoted: string) => quoted.replace(/\\(.)/gs, '$1'))
    .replace(/[\r\n]+/g, ' ')
    .trim()
}

/**
 * Reads one bare address and nothing else: a comma or a bracket inside it would be a second
 * recipient, a line break a second command. An international domain becomes its A-label; an
 * international local part stays as it is and needs SMTPUTF8 at the far side.
 */
export function parseAddress(text: string): Mailbox | null {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  const domain = text.slice(at + 1)
  if (at < 1 || !isLocalPart(local)) return null
  const whole = isAddressLiteral(domain) ? withinLength(local, domain) : joinAddress(local, domain)
  return whole && { name: '', ...whole }
}

function isLocalPart(local: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing these is the point
  return !/[\u0000-\u0020\u007f"(),:;<>@[\\\]]/.test(local)
}

function isAddressLiteral(domain: string): boolean {
  return /^\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9a-fA-F:.]+)\]$/.test(domain)
}
