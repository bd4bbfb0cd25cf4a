import { DatabaseUnavailable } from '../infra/db.ts'
import { Refusal } from '../lib/refusal.ts'

/** Advice by SQLSTATE or error code (independent of the language), or by message. */
const ADVICE: readonly { code?: RegExp; message?: RegExp; advice: string }[] = [
  {
    code: /^28P01$/,
    advice:
      'check user and password, and write the characters @ : / # ? % in them as %40 %3A %2F %23 %3F %25',
  },
  { message: /password must be a (non-empty )?string/, advice: 'put the password into the URL' },
  {
    code: /^28000$/,
    advice:
      'allow the role to connect (pg_hba.conf), and add sslmode=verify-full where the server asks for TLS',
  },
  { code: /^3D000$/, advice: 'create the database first, owned by the role' },
  {
    message: /unsupported startup parameter/,
    advice:
      'let the proxy ignore options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout and extra_float_digits (PgBouncer: ignore_startup_parameters)',
  },
  { code: /^(58P01|58030|XX00[12])$/, advice: 'its data is damaged: restore it from a backup' },
  { message: /does not support SSL/, advice: 'set up TLS there, or add sslmode=disable' },
  {
    code: /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT)/,
    advice:
      'add sslrootcert=/path/of/its/ca.crt and use the host name of its certificate, or add sslmode=no-verify to encrypt without verifying the server',
  },
]

type Failure = Error & { code?: string; syscall?: string }

/** Whether waiting is useless: a file that the URL names is missing, or the settings must change. */
export function needsConfigChange(failure: Failure): boolean {
  return failure.syscall === 'open' || adviceOn(failure) !== undefined
}

/** With what mends it, where that is known. */
export function databaseRefusal(cause: Error): Refusal {
  const advice = adviceOn(cause)
  return new Refusal(
    `The database of DATABASE_URL cannot be used: ${reasonOf(cause)}${advice === undefined ? '' : `: ${advice}`}.`,
    { cause },
  )
}

/** SQLSTATEs of a lost connection, of resources that are used up, and of a server that is told to stop. */
const LOST = /^(08|53|57P)/

/**
 * Explains that the database was there and then could not do what the start needs: its disk is full, it only reads, or it went
 * away. Other errors are returned as they are.
 */
export function explainLostDatabase(error: unknown): unknown {
  const isLost = error instanceof DatabaseUnavailable || LOST.test((error as Failure).code ?? '')
  if (!(error instanceof Error) || !isLost) return error
  const reason = reasonOf(error.cause instanceof Error ? error.cause : error)
  return new Refusal(`The database could not do what the start needs: ${reason}.`, { cause: error })
}

/** What each address that was tried said. */
function reasonOf(cause: Error): string {
  const errors = cause instanceof AggregateError ? (cause.errors as Error[]) : [cause]
  // Removes Node's hint about its own command line options.
  return errors.map(error => error.message.replace(/; if the root CA .*|[:. ]+$/, '')).join(', ')
}

function adviceOn(failure: Failure): string | undefined {
  const { code = '', message } = failure
  return ADVICE.find(each => each.code?.test(code) || each.message?.test(message))?.advice
}
