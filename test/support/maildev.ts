import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSignals } from './signals.ts'

/** A mail as MailDev's own parser reads it. */
export type ReadMail = {
  id: string
  subject?: string
  text: string
  html?: string
  headers: Record<string, string>
  from: { address: string; name: string }[]
  to: { address: string }[]
  messageId: string
  attachments?: { fileName: string; generatedFileName: string; contentType: string; length: number }[]
}

/**
 * An independent mail server with a parser and an HTTP API: it shows what a recipient's software makes of our
 * mails.
 */
export type MailDev = {
  smtpPort: number
  /** Waits for the n-th mail, and reads it over HTTP. */
  mail(nth: number): Promise<ReadMail>
  /** How many have arrived so far. */
  count(): number
  source(id: string): Promise<Buffer>
  attachment(id: string, name: string): Promise<Buffer>
  stop(): Promise<void>
}

type Raw = {
  smtp: { server: Server }
  on(event: 'new', listener: (mail: { id: string }) => void): void
  listen(): Promise<void>
  close(done: () => void): void
}

const require = createRequire(import.meta.url)

/** At most one per process, since its web server is module state. */
export async function startMailDev(): Promise<MailDev> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-maildev-'))
  const raw = create(directory)
  const signals = createSignals()
  const arrived: string[] = []
  raw.on('new', mail => {
    arrived.push(mail.id)
    signals.notify()
  })
  await raw.listen()
  const api = `http://127.0.0.1:${await portOf(require('maildev/lib/web').server)}/email`
  const bytes = async (path: string) => Buffer.from(await (await fetch(api + path)).arrayBuffer())

  return {
    smtpPort: await portOf(raw.smtp.server),
    async mail(nth) {
      await signals.until(() => arrived.length >= nth)
      return JSON.parse((await bytes(`/${arrived[nth - 1]}`)).toString()) as ReadMail
    },
    count: () => arrived.length,
    source: id => bytes(`/${id}/download`),
    attachment: (id, name) => bytes(`/${id}/attachment/${encodeURIComponent(name)}`),
    async stop() {
      await new Promise<void>(resolve => raw.close(resolve))
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** It installs signal handlers, which are removed again. */
function create(mailDirectory: string): Raw {
  const signals = ['SIGTERM', 'SIGINT'] as const
  const before = signals.map(signal => new Set(process.listeners(signal)))
  // The texts "0" ask for any free port; the number 0 would mean its default.
  const raw = require('maildev')({ smtp: '0', web: '0', ip: '127.0.0.1', silent: true, mailDirectory }) as Raw
  signals.forEach((signal, at) => {
    for (const listener of process.listeners(signal))
      if (!before[at]!.has(listener)) process.off(signal, listener)
  })
  return raw
}

async function portOf(server: Server): Promise<number> {
  if (!server.listening) await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
