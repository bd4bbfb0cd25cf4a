import { createHash, generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import DKIM from 'nodemailer/lib/dkim'
import { expect, test } from 'vitest'
import { createDkimSigner, relaxedBody } from '../../src/channels/smtp/dkim.ts'
import { verifyDkim } from '../support/dkim-verifier.ts'

const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }) as string
const config = { domainName: 'example.org', keySelector: 's1', privateKey }

const HEAD = [
  'From: Posthorn <a@example.org>',
  'To: b@example.com',
  'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?= from  a',
  '\tlong subject   ',
  'Message-ID: <1@example.org>',
  'X-Not-Signed: 1',
  'Date: Thu, 01 Jan 2026 00:00:00 +0000',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
].join('\r\n')

const mail = (body: string | Buffer) => Buffer.concat([Buffer.from(`${HEAD}\r\n\r\n`), Buffer.from(body)])

/** Mixtures of line breaks and blanks, which canonicalisation changes. */
const body = fc
  .array(fc.constantFrom(' ', '\t', '  ', '\r\n', '\r\n\r\n', 'a', 'word', '.', 'é', '=20', '\r\n.'), {
    maxLength: 40,
  })
  .map(pieces => pieces.join(''))

test('every signed mail verifies, and its content is unchanged', async () => {
  const sign = createDkimSigner(config)
  await fc.assert(
    fc.asyncProperty(body, async text => {
      const signed = await sign(mail(text))
      expect(verifyDkim(signed, publicKey)).toMatchObject({ ok: true, why: '' })
      expect(signed.subarray(signed.length - mail(text).length)).toEqual(mail(text))
    }),
    { numRuns: 60 },
  )
})

test('the body hash equals the one that nodemailer computes', async () => {
  const oracle = new DKIM(config)
  await fc.assert(
    fc.asyncProperty(body, async text => {
      const signed = Buffer.concat(await oracle.sign(mail(text)).toArray()).toString()
      const theirs = /bh=([^;]+);/.exec(signed)![1]!.replace(/\s+/g, '')
      expect(
        createHash('sha256')
          .update(relaxedBody(Buffer.from(text)))
          .digest('base64'),
      ).toBe(theirs)
    }),
    { numRuns: 60 },
  )
})

test('a change of the body or of a signed header breaks the signature', async () => {
  const signed = (await createDkimSigner(config)(mail('pay 10 to Bob\r\n'))).toString('latin1')
  const verdict = (text: string) => verifyDkim(Buffer.from(text, 'latin1'), publicKey)
  expect(verdict(signed).ok).toBe(true)
  expect(verdict(signed.replace('pay 10', 'pay 90')).why).toBe('the body was changed')
  expect(verdict(signed.replace('long subject', 'other subject')).why).toBe('the signature does not fit')
  expect(verdict(signed.replace('s=s1', 's=s2')).why).toBe('the signature does not fit')
  // The second `from` in h= makes an added From header break the signature.
  const second = signed.replace('Subject:', 'From: evil@example.net\r\nSubject:')
  expect(verdict(second).why).toBe('the signature does not fit')
  expect(verdict(signed.replace('X-Not-Signed: 1', 'X-Not-Signed: 2')).ok).toBe(true)
  expect(verdict(signed.replace('pay 10 to', 'pay  10\t to').replace('Bob\r\n', 'Bob  \r\n\r\n')).ok).toBe(
    true,
  )
})

test('no line of the signature has 150 characters or more', async () => {
  const signed = (await createDkimSigner(config)(mail('x'))).toString('latin1')
  for (const line of signed.slice(0, signed.indexOf('From:')).split('\r\n'))
    expect(line.length).toBeLessThan(150)
})

test('the signer rejects a key that is not a readable RSA key, without quoting it', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const ecKey = ec.export({ type: 'pkcs8', format: 'pem' }) as string
  const secret = ecKey.split('\n')[1]!
  const unreadable = 'dkim.privateKey is not a readable PEM private key'
  const cases: [key: string, message: string][] = [
    [secret, unreadable],
    [`-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`, unreadable],
    [ecKey, 'dkim.privateKey is not an RSA key'],
  ]
  for (const [key, message] of cases) {
    const error = errorOf(key)
    expect(error.message).toBe(message)
    expect(inspect(error, { depth: 20, showHidden: true, maxStringLength: null })).not.toContain(secret)
  }
})

/** The error with which the signer rejects a key. */
function errorOf(privateKey: string): Error {
  try {
    createDkimSigner({ ...config, privateKey })
  } catch (error) {
    return error as Error
  }
  return expect.unreachable('the key was accepted')
}
