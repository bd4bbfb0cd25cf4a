import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Link, Outgoing } from '../../src/channels/provider.ts'
import { smtpProvider } from '../../src/channels/smtp.ts'
import { verifyDkim } from '../support/dkim-verifier.ts'
import { createIo, never, outgoing, settled } from './conformance.ts'

/**
 * Against MailDev, a mail server with a parser and an HTTP API that nobody here wrote: what a
 * recipient's program makes of our mails.
 */
type MailDev = {
  smtp: { server: Server }
  on(event: 'new', listener: (mail: { id: string }) => void): void
  listen(): Promise<void>
  close(done: () => void): void
}
type ReadMail = {
  id: string
  subject: string
  text: string
  html?: string
  headers: Record<string, string>
  from: { address: string; name: string }[]
  to: { address: string }[]
  messageId: string
  attachments?: { fileName: string; generatedFileName: string; contentType: string; length: number }[]
}

const require = createRequire(import.meta.url)
const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }) as string

let directory = ''
let maildev: MailDev
let api = ''
let link: Link
const arrived: string[] = []
let announce = () => {}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'posthorn-maildev-'))
  // The texts "0" ask for any free port; the number 0 would mean its default.
  const options = { smtp: '0', web: '0', ip: '127.0.0.1', silent: true, mailDirectory: directory }
  const before = { term: process.listeners('SIGTERM'), int: process.listeners('SIGINT') }
  maildev = require('maildev')(options)
  for (const one of process.listeners('SIGTERM')) if (!before.term.includes(one)) process.off('SIGTERM', one)
  for (const one of process.listeners('SIGINT')) if (!before.int.includes(one)) process.off('SIGINT', one)
  maildev.on('new', mail => {
    arrived.push(mail.id)
    announce()
  })
  await maildev.listen()
  api = `http://127.0.0.1:${await portOf(require('maildev/lib/web').server)}`
  const config = {
    host: '127.0.0.1',
    port: await portOf(maildev.smtp.server),
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
  await new Promise<void>(resolve => maildev.close(resolve))
  await rm(directory, { recursive: true, force: true })
})

async function portOf(server: Server): Promise<number> {
  if (!server.listening) await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Sends, waits until MailDev says that it has it, and reads it back over HTTP. */
async function deliver(more: Partial<Outgoing>): Promise<{ mail: ReadMail; source: Buffer }> {
  const count = arrived.length
  const outcome = await settled(
    link.send(outgoing(count + 1, { to: 'reader@example.com', ...more }), never()),
    'send()',
  )
  expect(outcome).toMatchObject({ kind: 'accepted' })
  if (arrived.length === count) await settled(new Promise<void>(resolve => (announce = resolve)), 'the mail')
  const id = arrived[count]!
  const mail = (await (await fetch(`${api}/email/${id}`)).json()) as ReadMail
  const source = Buffer.from(await (await fetch(`${api}/email/${id}/download`)).arrayBuffer())
  return { mail, source }
}

describe('what a reader gets', () => {
  test('text in many scripts, with dots and long lines', async () => {
    const text = `Grüße, 你好, שלום 👋\n.\n..dots\n${'long '.repeat(400)}end\n\n  trailing   `
    const { mail, source } = await deliver({ subject: `Ünïcödé 🎺 ${'x'.repeat(120)}`, text })
    expect(mail.subject).toBe(`Ünïcödé 🎺 ${'x'.repeat(120)}`)
    expect(mail.text.replace(/\n$/, '')).toBe(text)
    expect(mail.from).toEqual([{ address: 'no-reply@example.org', name: 'Pösthorn' }])
    expect(mail.to).toMatchObject([{ address: 'reader@example.com' }])
    for (const line of source.toString('latin1').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  })

  test('HTML, with a plain alternative', async () => {
    const html = '<h1>Hällo</h1><p>Open <a href="https://a.example/x">this</a></p>'
    const { mail } = await deliver({ subject: 'HTML', text: html, html: true })
    expect(mail.html).toContain('<h1>Hällo</h1>')
    expect(mail.text.trim()).toBe('Hällo\n\nOpen this (https://a.example/x)')
  })

  test('attachments, byte for byte', async () => {
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
    const back = await fetch(`${api}/email/${mail.id}/attachment/${encodeURIComponent(name)}`)
    expect(Buffer.from(await back.arrayBuffer()).equals(picture)).toBe(true)
  })

  test.each<[string, Partial<Outgoing>]>([
    ['a code', { messageType: 'otp', subject: 'Your code', text: 'Your code is 123456.' }],
    ['HTML', { subject: 'Grüße', text: '<p>a</p>', html: true }],
    [
      'nothing but a file',
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
  ])('the signature of %s verifies against the public key', async (_name, more) => {
    const { mail, source } = await deliver(more)
    const verdict = verifyDkim(source, publicKey)
    expect(verdict).toMatchObject({ ok: true, why: '' })
    expect(verdict.tags).toMatchObject({ d: 'example.org', s: 'ph1' })
    expect(verdict.tags['h']).toContain('from:from:to')
    expect(mail.headers['auto-submitted']).toBe(more.messageType === 'otp' ? 'auto-generated' : undefined)
  })
})
