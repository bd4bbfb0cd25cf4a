/**
 * Session settings that our SQL and the parsing of results rely on, whatever the server, database or role has
 * as defaults: the syntax of literals and nulls, times that the driver can parse, days in UTC, and the
 * isolation level that the SQL functions are written for.
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

/** For connections that may wait or be idle for any time. */
const NO_TIMEOUTS = [
  ['statement_timeout', '0'],
  ['lock_timeout', '0'],
  ['idle_in_transaction_session_timeout', '0'],
  ['idle_session_timeout', '0'],
] as const

/**
 * Committed data is on disk, whatever the role's default is. And all our statements are short: compiling them (`jit`) costs
 * more than running them. They come before the options of the connection string, so that these may ask for
 * something else, such as remote_apply.
 */
const BEFORE_OPTIONS = [
  ['synchronous_commit', 'on'],
  ['jit', 'off'],
] as const

/** The driver treats these like verify-full, and warns at each start that this will change. */
const VERIFIED_SSL_MODES = ['prefer', 'require', 'verify-ca']

/**
 * Adds these settings to the connection string, after the options that it has. They are part of the
 * connection's startup message: no connection is without them, and they take no extra round trip.
 */
export function withSessionSettings(connectionString: string, { patient = false } = {}): string {
  const [, query = ''] = connectionString.split('?', 2)
  const asked = new URLSearchParams(query)
  const given = asked.getAll('options').slice(-1)
  const settings = patient ? [...SETTINGS, ...NO_TIMEOUTS] : SETTINGS
  const options = [...BEFORE_OPTIONS.map(asOption), ...given, ...settings.map(asOption)].join(' ')
  const verified = VERIFIED_SSL_MODES.includes(asked.get('sslmode') ?? '') && !asked.has('uselibpqcompat')
  const ssl = verified ? '&sslmode=verify-full' : ''
  return `${connectionString}${separatorAfter(connectionString, query)}options=${encodeURIComponent(options)}${ssl}`
}

/** A query may be empty, as where the URL is made of parts: `…/posthorn?`. */
function separatorAfter(connectionString: string, query: string): string {
  if (query !== '') return '&'
  return connectionString.endsWith('?') ? '' : '?'
}

function asOption([name, value]: readonly [name: string, value: string]): string {
  return `-c ${name}=${value.replaceAll(' ', '\\ ')}`
}
