import { expect, test } from 'vitest'
import { ipScopeOf, labelOf } from '../../../src/core/fraud/scopes.ts'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2a00:db8:1:2::9', '2a00:db8:1:2::/64'],
  ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
])('codes asked for from %s count as from %s', (clientIp, counted) => {
  expect(labelOf(ipScopeOf(clientIp)!)).toBe(counted)
})

test.each([null, '', 'localhost'])('codes asked for from %j are not counted', clientIp => {
  expect(ipScopeOf(clientIp)).toBeNull()
})
