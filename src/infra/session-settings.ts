/**
 * What our SQL and the reading of its answers rely on, whatever the server, the database or the role has
 * set for others: literals and nulls as they are written, times that the driver can read, days in UTC, and
 * the isolation that the functions of the hot path are written for.
 */
const SETTINGS = [
  'standard_conforming_strings=on',
  'array_nulls=on',
  'transform_null_equals=off',
  'bytea_output=hex',
  'extra_float_digits=1',
  'DateStyle=ISO',
  'IntervalStyle=postgres',
  'TimeZone=UTC',
  'default_transaction_isolation=read\\ committed',
]

/** For a connection that may wait, or rest, for as long as it takes. */
const NO_TIMEOUTS = [
  'statement_timeout=0',
  'lock_timeout=0',
  'idle_in_transaction_session_timeout=0',
  'idle_session_timeout=0',
]

/**
 * The connection string with these settings, behind the options that it has already. They go with the
 * greeting: a connection without them is never open, and none costs a round trip more.
 */
export function withSessionSettings(connectionString: string, { patient = false } = {}): string {
  const [, query = ''] = connectionString.split('?', 2)
  const given = new URLSearchParams(query).getAll('options').slice(-1)
  const settings = patient ? [...SETTINGS, ...NO_TIMEOUTS] : SETTINGS
  const options = [...given, ...settings.map(setting => `-c ${setting}`)].join(' ')
  return `${connectionString}${query === '' ? '?' : '&'}options=${encodeURIComponent(options)}`
}
