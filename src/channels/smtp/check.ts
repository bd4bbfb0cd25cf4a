import SMTPConnection, { type Options as ConnectionOptions } from 'nodemailer/lib/smtp-connection'
import type { LinkTest } from '../provider.ts'
import type { SmtpFault } from './outcome.ts'

/** What was asked of a server that answered. */
type Question<T> = (
  connection: SMTPConnection,
  finish: (answer: T) => void,
  fail: (fault: SmtpFault) => void,
) => void

/** Connects, greets, logs in and says goodbye on a connection of its own; cut when `signal` aborts. */
export async function checkServer(
  options: ConnectionOptions,
  login: { user: string; pass: string } | null,
  signal: AbortSignal,
): Promise<LinkTest> {
  const answer = await visit<LinkTest>(options, signal, (connection, finish, fail) => {
    if (login === null) return finish({ ok: true, detail: 'The server answers.' })
    if (!connection.allowsAuth) return finish({ ok: false, detail: 'The server offers no login.' })
    connection.login(login, fault => {
      if (fault) fail(fault)
      else finish({ ok: true, detail: 'The server answers and takes the login.' })
    })
  })
  return 'fault' in answer ? { ok: false, detail: describe(answer.fault) } : answer.said
}

/** What the server answers to EHLO, behind STARTTLS where that is offered: its extensions, one a line. */
export function askExtensions(
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<{ said: string } | { fault: SmtpFault }> {
  return visit<string>(options, signal, (connection, finish) => finish(connection.lastServerResponse || ''))
}

/** Asks on a connection of its own, and says goodbye where the server answered; cut when `signal` aborts. */
function visit<T>(
  options: ConnectionOptions,
  signal: AbortSignal,
  ask: Question<T>,
): Promise<{ said: T } | { fault: SmtpFault }> {
  const connection = new SMTPConnection(options)
  return new Promise(resolve => {
    // The first result counts; what closing then reports is too late.
    function finish(said: T): void {
      resolve({ said })
      connection.quit()
    }
    function fail(fault: SmtpFault): void {
      resolve({ fault })
      connection.close()
    }
    const cut = () => fail({ code: 'EABORT' })
    // Until the very end: a server may also never answer the goodbye.
    signal.addEventListener('abort', cut, { once: true })
    connection.once('end', () => signal.removeEventListener('abort', cut))
    connection.once('end', () => fail({ code: 'ECONNECTION' }))
    connection.on('error', fail)
    connection.connect(error => (error ? fail(error) : ask(connection, finish, fail)))
    if (signal.aborted) cut()
  })
}

/** Codes alone: a server may quote the login in its reply. */
function describe(fault: SmtpFault): string {
  if (fault.code === 'EABORT') return 'No answer in time.'
  const reply = fault.responseCode ? `, reply ${fault.responseCode}` : ''
  return `${fault.originalCode ?? fault.code ?? 'failed'}${reply}`
}
