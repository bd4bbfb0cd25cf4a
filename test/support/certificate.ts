import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

export type Certificate = { key: string; cert: string }

/**
 * A self-signed certificate for names and IPv4 addresses, created on the fly, so that no key is in the
 * repository and none expires. It is its own CA: pass `cert` as `ca`.
 */
export function createCertificate(names: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = sequence(set(sequence(oid('2.5.4.3'), tagged(0x0c, Buffer.from(names[0]!)))))
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'))
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    subject,
    sequence(time('20200101000000Z'), time('20990101000000Z')),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(alternativeNames(names), authority())),
  )
  const signature = sign('sha256', body, privateKey)
  const der = sequence(body, algorithm, tagged(0x03, Buffer.from([0]), signature))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map(name =>
    isIP(name) === 4
      ? tagged(0x87, Buffer.from(name.split('.').map(Number)))
      : tagged(0x82, Buffer.from(name)),
  )
  return sequence(oid('2.5.29.17'), tagged(0x04, sequence(...entries)))
}

function authority(): Buffer {
  return sequence(oid('2.5.29.19'), tagged(0x04, sequence(tagged(0x01, Buffer.from([0xff])))))
}

function tagged(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const size = body.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

function sequence(...content: Buffer[]): Buffer {
  return tagged(0x30, ...content)
}

function set(content: Buffer): Buffer {
  return tagged(0x31, content)
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes)
}

function time(text: string): Buffer {
  return tagged(0x18, Buffer.from(text))
}

function oid(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number)
  const bytes = [first! * 40 + second!]
  for (const part of rest) {
    const groups = [part & 0x7f]
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift(0x80 | (left & 0x7f))
    bytes.push(...groups)
  }
  return tagged(0x06, Buffer.from(bytes))
}
