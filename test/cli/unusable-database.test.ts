import { expect, test } from 'vitest'
import { databaseRefusal, explainLostDatabase, needsConfigChange } from '../../src/cli/unusable-database.ts'
import { DatabaseUnavailable } from '../../src/infra/db.ts'

const failure = (message: string, fields: object = {}) => Object.assign(new Error(message), fields)

test.each([
  [failure('password authentication failed', { code: '28P01' }), 'check user and password'],
  [failure('Passwort-Authentifizierung fehlgeschlagen', { code: '28P01' }), 'check user and password'],
  [
    failure('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
    'put the password into the URL',
  ],
  [failure('pg_hba.conf rejects connection, no encryption', { code: '28000' }), 'add sslmode=verify-full'],
  [failure('database "none" does not exist', { code: '3D000' }), 'create the database first'],
  [
    failure('unsupported startup parameter: options', { code: '08P01' }),
    'PgBouncer: ignore_startup_parameters',
  ],
  [failure('invalid page in block 0 of relation "base/5/1"', { code: 'XX001' }), 'its data is damaged'],
  [failure('The server does not support SSL connections'), 'add sslmode=disable'],
  [failure('self-signed certificate in chain', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }), 'add sslrootcert='],
])('%s: the configuration must change, and the message says how', (cause, advice) => {
  expect(needsConfigChange(cause)).toBe(true)
  expect(databaseRefusal(cause).message).toContain(`${cause.message}: `)
  expect(databaseRefusal(cause).message).toContain(advice)
})

test('a missing file named in the URL is not waited for, an unavailable server is', () => {
  expect(needsConfigChange(failure('no such file', { code: 'ENOENT', syscall: 'open' }))).toBe(true)
  expect(needsConfigChange(failure('no such socket', { code: 'ENOENT', syscall: 'connect' }))).toBe(false)
  expect(needsConfigChange(failure('pgbouncer cannot connect to server', { code: '08P01' }))).toBe(false)
})

test('the message contains each address that was tried, but no hint for running Node.js', () => {
  const refused = new AggregateError([failure('refused by ::1'), failure('refused by 127.0.0.1')])
  expect(databaseRefusal(refused).message).toBe(
    'The database of DATABASE_URL cannot be used: refused by ::1, refused by 127.0.0.1.',
  )
  const unknown = failure('unable to verify; if the root CA is installed locally, try running Node.js with x')
  expect(databaseRefusal(unknown).message).toBe(
    'The database of DATABASE_URL cannot be used: unable to verify.',
  )
})

test('a database that is lost during the start is explained by its own words, other errors are left', () => {
  const full = failure('could not extend file: No space left on device.', { code: '53100' })
  for (const lost of [full, new DatabaseUnavailable(full)]) {
    expect(explainLostDatabase(lost)).toMatchObject({
      name: 'Refusal',
      message:
        'The database could not do what the start needs: could not extend file: No space left on device.',
    })
  }
  const refused = new AggregateError([failure('refused by ::1'), failure('refused by 127.0.0.1')])
  expect(explainLostDatabase(new DatabaseUnavailable(refused))).toMatchObject({
    message: 'The database could not do what the start needs: refused by ::1, refused by 127.0.0.1.',
  })
  const bug = failure('column "x" does not exist', { code: '42703' })
  expect(explainLostDatabase(bug)).toBe(bug)
})
