import { expect, test } from 'vitest'
import { originOf } from '../../src/compose/media.ts'

test.each([
  [{ publicUrl: 'https://sms.example.org/api', host: '0.0.0.0', port: 8080 }, 'https://sms.example.org/api'],
  [{ host: '127.0.0.1', port: 8080 }, 'http://127.0.0.1:8080'],
  [{ host: '::1', port: 80 }, 'http://[::1]:80'],
  [{ host: 'localhost', port: 8080 }, 'http://localhost:8080'],
  [{ host: '0.0.0.0', port: 8080 }, ''],
  [{ host: '::', port: 8080 }, ''],
  [{ host: '127.0.0.1', port: 0 }, ''],
])('the origin of media URLs is a reachable address, or empty if none is known: %o', (config, origin) => {
  expect(originOf({ publicUrl: undefined, ...config })).toBe(origin)
})
