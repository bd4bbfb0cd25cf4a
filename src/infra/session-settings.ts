/**
 * What our SQL and the reading of its answers rely on, whatever the server, the database or the role has
 * set for others: literals and nulls as they are written, times that the driver can read, days in UTC, and
 * the isolation that the functions of the hot path are written for.
 */
export const SETTINGS = [
  ['standard_conforming_strings', 'on'],
  ['array_nulls', 'on'],
  ['transform_null_equals', 'off'],
  ['bytea_output', 'hex'],
  ['extra_float_digits', '1'],
  ['DateStyle', 'ISO'],
  ['IntervalStyle', 'postgres'],
  ['TimeZone', 'UTC'],
  ['default_transaction_isolation', 'read committed'],
] as const

/** For a connection that may wait, or rest, for as long as it takes. */
const NO_TIMEOUTS = [
  ['statement_timeout', '0'],
  ['lock_timeout', '0'],
  ['idle_in_transaction_session_timeout', '0'],
  ['idle_session_timeout', '0'],
] as const

/**
 * What is answered is on disk, whatever the role does without. It stands before the options of the connection
 * string, so that these may ask for more, as remote_apply is.
 */
const DURABLE = ['synchronous_commit', 'on'] as const

/** The driver means verify-full by these too, and warns at each start that it will not for ever. */
const VERIFIED_SSL_MODES = ['prefer', 'require', 'verify-ca']

/**
 * The connection string with these settings, behind the options that it has already. They go with the
 * greeting: a connection without them is never open, and none costs a round trip more.
 */
export function withSessionSettings(connectionString: string, { patient = false } = {}): string {
  const [, query = ''] = connectionString.split('?', 2)
  const asked = new URLSearchParams(query)
  const given = asked.getAll('options').slice(-1)
  const settings = patient ? [...SETTINGS, ...NO_TIMEOUTS] : SETTINGS
  const options = [asOption(DURABLE), ...given, ...settings.map(asOption)].join(' ')
  const verified = VERIFIED_SSL_MODES.includes(asked.get('sslmode') ?? '') && !asked.has('uselibpqcompat')
  const ssl = verified ? '&sslmode=verify-full' : ''
  return `${connectionString}${query === '' ? '?' : '&'}options=${encodeURIComponent(options)}${ssl}`
}

function asOption([name, value]: readonly [name: string, value: string]): string {
  return `-c ${name}=${value.replaceAll(' ', '\\ ')}`
}
