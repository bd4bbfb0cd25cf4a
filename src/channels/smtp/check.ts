import SMTPConnection, { type Options as ConnectionOptions } from 'nodemailer/lib/smtp-connection'
import type { LinkTest } from '../provider.ts'
import type { SmtpFault } from './outcome.ts'

/** Connects, greets, logs in and says goodbye on a connection of its own; cut when `signal` aborts. */
export function checkServer(
  options: ConnectionOptions,
  login: { user: string; pass: string } | null,
  signal: AbortSignal,
): Promise<LinkTest> {
  const connection = new SMTPConnection(options)
  return new Promise(resolve => {
    // The first result counts; what closing then reports is too late.
    function finish(result: LinkTest): void {
      resolve(result)
      if (result.ok) connection.quit()
      else connection.close()
    }
    const fail = (fault: SmtpFault) => finish({ ok: false, detail: describe(fault) })
    const cut = () => finish({ ok: false, detail: 'No answer in time.' })
    // Until the very end: a server may also never answer the goodbye.
    signal.addEventListener('abort', cut, { once: true })
    connection.once('end', () => signal.removeEventListener('abort', cut))
    connection.once('end', () => fail({ code: 'ECONNECTION' }))
    connection.on('error', fail)
    connection.connect(error => {
      if (error) return fail(error)
      if (login === null) return finish({ ok: true, detail: 'The server answers.' })
      if (!connection.allowsAuth) return finish({ ok: false, detail: 'The server offers no login.' })
      connection.login(login, fault => {
        if (fault) fail(fault)
        else finish({ ok: true, detail: 'The server answers and takes the login.' })
      })
    })
    if (signal.aborted) cut()
  })
}

/** Codes alone: a server may quote the login in its reply. */
function describe(fault: SmtpFault): string {
  const reply = fault.responseCode ? `, reply ${fault.responseCode}` : ''
  return `${fault.originalCode ?? fault.code ?? 'failed'}${reply}`
}
