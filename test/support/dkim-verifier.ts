import { createHash, verify } from 'node:crypto'

export type DkimVerdict = { ok: boolean; why: string; tags: Record<string, string> }

/**
 * Checks the first DKIM signature of a mail as a receiver would (RFC 6376, relaxed/relaxed),
 * from the bytes as they arrived and the public key alone. Written on lines and regular
 * expressions, unlike the signer, so that the two cannot share a mistake.
 */
export function verifyDkim(mail: Buffer, publicKey: string): DkimVerdict {
  const text = mail.toString('latin1')
  const split = text.indexOf('\r\n\r\n')
  const headers = text.slice(0, split + 2).match(/[^\r\n]+\r\n(?:[ \t][^\r\n]*\r\n)*/g) ?? []
  const own = headers.find(line => /^dkim-signature:/i.test(line))
  if (own === undefined) return { ok: false, why: 'no signature', tags: {} }
  const tags = tagsOf(own)
  const fail = (why: string) => ({ ok: false, why, tags })
  if (tags['c'] !== 'relaxed/relaxed' || tags['a'] !== 'rsa-sha256') return fail('unknown algorithm')
  if (hashOf(text.slice(split + 4)) !== tags['bh']) return fail('the body was changed')
  const left = [...headers]
  const signed = tags['h']!.split(':').map(name => takeLast(left, name.trim()))
  const unsigned = relaxed(own)
    .replace(/\bb=[^;]*$/, 'b=')
    .replace(/\r\n$/, '')
  const ok = verify(
    'sha256',
    Buffer.from(signed.join('') + unsigned, 'latin1'),
    publicKey,
    Buffer.from(tags['b']!, 'base64'),
  )
  return ok ? { ok, why: '', tags } : fail('the signature does not fit')
}

function tagsOf(header: string): Record<string, string> {
  const value = header.slice(header.indexOf(':') + 1).replace(/\s+/g, '')
  return Object.fromEntries(
    value
      .split(';')
      .filter(Boolean)
      .map(tag => [tag.slice(0, tag.indexOf('=')), tag.slice(tag.indexOf('=') + 1)]),
  )
}

/** Each name in `h=` takes the last unused header of that name; a missing one counts as empty. */
function takeLast(headers: string[], name: string): string {
  const at = headers.findLastIndex(line => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
  return at === -1 ? '' : relaxed(headers.splice(at, 1)[0]!)
}

function relaxed(header: string): string {
  const colon = header.indexOf(':')
  const value = header
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim()
  return `${header.slice(0, colon).trim().toLowerCase()}:${value}\r\n`
}

function hashOf(body: string): string {
  const lines = body.split('\r\n').map(line => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  return createHash('sha256')
    .update(Buffer.from(lines.map(line => `${line}\r\n`).join(''), 'latin1'))
    .digest('base64')
}
