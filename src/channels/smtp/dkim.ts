import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'

export type DkimConfig = { domainName: string; keySelector: string; privateKey: string }

/** Returns the message with its signature header in front; never changes a byte of the rest. */
export type DkimSigner = (message: Buffer) => Promise<Buffer>

/**
 * Headers that are signed if present (RFC 6376, 5.4.1). `from` is listed twice, so that a second
 * From header that is added on the way breaks the signature.
 */
const SIGNED_HEADERS = [
  'from',
  'from',
  'to',
  'subject',
  'date',
  'message-id',
  'auto-submitted',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
]

/**
 * Signs with rsa-sha256, relaxed/relaxed (RFC 6376). The RSA operation, 0.3 to 1 ms, runs on
 * libuv's threads by way of the callback form of `crypto.sign`, and the key is parsed once:
 * signing inside nodemailer does both on the main thread, for each message anew.
 * Throws on a key that is not a PEM private RSA key; the text does not quote it.
 */
export function createDkimSigner(config: DkimConfig): DkimSigner {
  const key = readKey(config.privateKey)
  return async message => {
    const bodyAt = message.indexOf('\r\n\r\n') + 4
    const headers = readHeaders(message.subarray(0, bodyAt).toString('latin1'))
    const names = SIGNED_HEADERS.filter(name => headers.has(name))
    const unsigned = signatureHeader(config, names, bodyHash(message.subarray(bodyAt)))
    const signature = await signOffThread(signedText(names, headers, unsigned), key)
    return Buffer.concat([Buffer.from(`${unsigned}${fold(signature)}\r\n`, 'latin1'), message])
  }
}

function readKey(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    // The library's error may quote what it was given.
    throw new Error('dkim.privateKey is not a readable PEM private key')
  }
  if (key.asymmetricKeyType !== 'rsa') throw new Error('dkim.privateKey is not an RSA key')
  return key
}

/** Unfolded header lines by lower-case name. Our own messages have each signed header at most once. */
function readHeaders(block: string): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of block.replace(/\r\n(?=[ \t])/g, '').split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).trimEnd().toLowerCase(), line.slice(colon + 1))
  }
  return headers
}

function bodyHash(body: Buffer): string {
  return createHash('sha256').update(relaxedBody(body)).digest('base64')
}

/**
 * RFC 6376, 3.4.4: runs of blanks become one space, blanks at the end of a line and empty
 * lines at the end of the body go, and what is left ends with CRLF.
 */
export function relaxedBody(body: Buffer): Buffer {
  const out = Buffer.allocUnsafe(body.length + 2)
  let length = 0
  let end = 0
  let blank = false
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (byte === 0x20 || byte === 0x09) {
      blank = true
    } else if (byte === 0x0d && body[at + 1] === 0x0a) {
      length = out.write('\r\n', length, 'latin1') + length
      blank = false
      at++
    } else {
      if (blank) out[length++] = 0x20
      blank = false
      out[length++] = byte
      end = length
    }
  }
  if (end === 0) return Buffer.alloc(0)
  out.write('\r\n', end, 'latin1')
  return out.subarray(0, end + 2)
}

function signatureHeader(config: DkimConfig, names: readonly string[], hash: string): string {
  return [
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${config.domainName};`,
    ` s=${config.keySelector};`,
    ` h=${names.join(':')};`,
    ` bh=${hash};`,
    ' b=',
  ].join('\r\n')
}

/** The headers in the order of `h=`. A name that is listed twice is added once: there is only one such header. */
function signedText(names: readonly string[], headers: Map<string, string>, unsigned: string): string {
  const lines = [...new Set(names)].map(name => `${name}:${relaxedValue(headers.get(name)!)}\r\n`)
  const own = unsigned.slice(unsigned.indexOf(':') + 1).replaceAll('\r\n', '')
  return `${lines.join('')}dkim-signature:${relaxedValue(own)}`
}

function relaxedValue(value: string): string {
  return value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')
}

function signOffThread(text: string, key: KeyObject): Promise<string> {
  return new Promise((resolve, reject) => {
    sign('sha256', Buffer.from(text, 'latin1'), key, (error, signature) =>
      error ? reject(error) : resolve(signature.toString('base64')),
    )
  })
}

function fold(signature: string): string {
  return signature.replace(/.{70}(?=.)/g, '$&\r\n ')
}
