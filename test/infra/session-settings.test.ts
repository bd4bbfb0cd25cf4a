import { expect, test } from 'vitest'
import { withSessionSettings } from '../../src/infra/session-settings.ts'

const sslModeOf = (query: string) =>
  new URL(withSessionSettings(`postgresql://u@db/posthorn${query}`)).searchParams.getAll('sslmode').at(-1)

test.each([
  ['?sslmode=prefer', 'verify-full'],
  ['?sslmode=require&sslrootcert=/ca.crt', 'verify-full'],
  ['?sslmode=verify-ca', 'verify-full'],
  ['?sslmode=verify-full', 'verify-full'],
  ['?sslmode=no-verify', 'no-verify'],
  ['?sslmode=disable', 'disable'],
  ['?uselibpqcompat=true&sslmode=require', 'require'],
  ['', undefined],
])(
  'sets verify-full where the sslmode verifies the certificate, and keeps other modes: %s',
  (query, mode) => {
    expect(sslModeOf(query)).toBe(mode)
  },
)

test.each(['', '?', '?sslmode=disable', '?options=-c%20work_mem%3D8MB&'])(
  'adds the settings to a connection string that ends with "%s"',
  query => {
    const { searchParams } = new URL(withSessionSettings(`postgresql://u@db/posthorn${query}`))
    expect(searchParams.getAll('options').at(-1)).toContain('-c TimeZone=UTC')
  },
)
