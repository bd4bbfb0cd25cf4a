import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Link, Outgoing } from '../../src/channels/provider.ts'
import { smtpProvider } from '../../src/channels/smtp.ts'
import { verifyDkim } from '../support/dkim-verifier.ts'
import { type MailDev, type ReadMail, startMailDev } from '../support/maildev.ts'
import { createIo, never, outgoing, settled } from './conformance.ts'

const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }) as string

let maildev: MailDev
let link: Link

beforeAll(async () => {
  maildev = await startMailDev()
  const config = {
    host: '127.0.0.1',
    port: maildev.smtpPort,
    secure: false,
    from: 'Pösthorn <no-reply@example.org>',
    dkim: {
      domainName: 'example.org',
      keySelector: 'ph1',
      privateKey: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    },
  }
  link = await smtpProvider.open(config, createIo())
})

afterAll(async () => {
  await link.close()
  await maildev.stop()
})

/** Sends a mail, waits until MailDev has received it, and reads it back over HTTP. */
async function deliver(more: Partial<Outgoing>): Promise<{ mail: ReadMail; source: Buffer }> {
  const count = maildev.count()
  const outcome = await settled(
    link.send(outgoing(count + 1, { to: 'reader@example.com', ...more }), never()),
    'send()',
  )
  expect(outcome).toMatchObject({ kind: 'accepted' })
  const mail = await settled(maildev.mail(count + 1), 'the mail')
  const source = await maildev.source(mail.id)
  return { mail, source }
}

describe('a mail as MailDev received it', () => {
  test('has text in many scripts, with dots and long lines, unchanged', async () => {
    const text = `Grüße, 你好, שלום 👋\n.\n..dots\n${'long '.repeat(400)}end\n\n  trailing   `
    const { mail, source } = await deliver({ subject: `Ünïcödé 🎺 ${'x'.repeat(120)}`, text })
    expect(mail.subject).toBe(`Ünïcödé 🎺 ${'x'.repeat(120)}`)
    expect(mail.text.replace(/\n$/, '')).toBe(text)
    expect(mail.from).toEqual([{ address: 'no-reply@example.org', name: 'Pösthorn' }])
    expect(mail.to).toMatchObject([{ address: 'reader@example.com' }])
    for (const line of source.toString('latin1').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  })

  test('has HTML with a plain-text alternative', async () => {
    const html = '<h1>Hällo</h1><p>Open <a href="https://a.example/x">this</a></p>'
    const { mail } = await deliver({ subject: 'HTML', text: html, html: true })
    expect(mail.html).toContain('<h1>Hällo</h1>')
    expect(mail.text.trim()).toBe('Hällo\n\nOpen this (https://a.example/x)')
  })

  test('has its attachments byte for byte', async () => {
    const picture = randomBytes(200_000)
    const files = [
      { type: 'image', mimetype: 'image/png', fileName: 'bild-ä.png', bytes: picture },
      { type: 'document', mimetype: 'application/pdf', fileName: 'empty.pdf', bytes: Buffer.alloc(0) },
    ] as const
    const { mail } = await deliver({
      subject: 'Files',
      files: files.map(({ bytes, ...one }) => ({ ...one, open: async () => Readable.from([bytes]) })),
    })
    expect(mail.attachments).toMatchObject([
      { contentType: 'image/png', length: 200_000 },
      { contentType: 'application/pdf' },
    ])
    expect(mail.attachments!.map(one => one.fileName)).toEqual(['bild-ä.png', 'empty.pdf'])
    const name = mail.attachments![0]!.generatedFileName
    expect((await maildev.attachment(mail.id, name)).equals(picture)).toBe(true)
  })

  test.each<[string, Partial<Outgoing>]>([
    ['a one-time code', { messageType: 'otp', subject: 'Your code', text: 'Your code is 123456.' }],
    ['HTML', { subject: 'Grüße', text: '<p>a</p>', html: true }],
    [
      'a file without a text',
      {
        text: '',
        files: [
          {
            type: 'document',
            mimetype: 'text/plain',
            fileName: 'a.txt',
            open: async () => Readable.from(['a\nb']),
          },
        ],
      },
    ],
  ])('has a signature that verifies against the public key: %s', async (_name, more) => {
    const { mail, source } = await deliver(more)
    const verdict = verifyDkim(source, publicKey)
    expect(verdict).toMatchObject({ ok: true, why: '' })
    expect(verdict.tags).toMatchObject({ d: 'example.org', s: 'ph1' })
    expect(verdict.tags['h']).toContain('from:from:to')
    expect(mail.headers['auto-submitted']).toBe(more.messageType === 'otp' ? 'auto-generated' : undefined)
  })
})
