import SMTPConnection, { type Options as ConnectionOptions } from 'nodemailer/lib/smtp-connection'
import type { LinkTest } from '../provider.ts'
import type { SmtpFault } from './outcome.ts'

/** What to do on a connection once the server has answered EHLO. */
type ConnectionTask<T> = (
  connection: SMTPConnection,
  finish: (answer: T) => void,
  fail: (fault: SmtpFault) => void,
) => void

/** Connects, says EHLO, logs in and quits, on a connection of its own that is cut when `signal` aborts. */
export async function checkServer(
  options: ConnectionOptions,
  login: { user: string; pass: string } | null,
  signal: AbortSignal,
): Promise<LinkTest> {
  const answer = await withConnection<LinkTest>(options, signal, (connection, finish, fail) => {
    if (login === null) return finish({ ok: true, detail: 'The server answers.' })
    if (!connection.allowsAuth) return finish({ ok: false, detail: 'The server offers no login (AUTH).' })
    connection.login(login, fault => {
      if (fault) fail(fault)
      else finish({ ok: true, detail: 'The server answers and accepts the login.' })
    })
  })
  return 'fault' in answer ? { ok: false, detail: describe(answer.fault) } : answer.said
}

/** The extensions in the server's answer to EHLO, one a line; after STARTTLS where that is offered. */
export function queryExtensions(
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<{ said: string } | { fault: SmtpFault }> {
  return withConnection<string>(options, signal, (connection, finish) =>
    finish(connection.lastServerResponse || ''),
  )
}

/** Runs `ask` on a connection of its own, then quits if the server answered; cut when `signal` aborts. */
function withConnection<T>(
  options: ConnectionOptions,
  signal: AbortSignal,
  ask: ConnectionTask<T>,
): Promise<{ said: T } | { fault: SmtpFault }> {
  const connection = new SMTPConnection(options)
  return new Promise(resolve => {
    // The first result counts: closing the connection may report another one.
    function finish(said: T): void {
      resolve({ said })
      connection.quit()
    }
    function fail(fault: SmtpFault): void {
      resolve({ fault })
      connection.close()
    }
    const cut = () => fail({ code: 'EABORT' })
    // Stays until the end: the server may also not answer QUIT.
    signal.addEventListener('abort', cut, { once: true })
    connection.once('end', () => signal.removeEventListener('abort', cut))
    connection.once('end', () => fail({ code: 'ECONNECTION' }))
    connection.on('error', fail)
    connection.connect(error => (error ? fail(error) : ask(connection, finish, fail)))
    if (signal.aborted) cut()
  })
}

/** Reply codes only: a server may quote the login in its text. */
function describe(fault: SmtpFault): string {
  if (fault.code === 'EABORT') return 'No answer in time.'
  const reply = fault.responseCode ? `, reply ${fault.responseCode}` : ''
  return `${fault.originalCode ?? fault.code ?? 'failed'}${reply}`
}
