import { expect, test } from 'vitest'
import { clientNetworkOf } from '../../src/lib/client-network.ts'

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db8:0:1::', '2001:db8:0:1::/64'],
  ['2001:DB8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s is a client of %s', (ip, network) => {
  expect(clientNetworkOf(ip)).toBe(network)
})

test.each(['', 'localhost', '198.51.100.7:80', '[::1]', '2001:db8::/64'])('%j is no IP address', text => {
  expect(clientNetworkOf(text)).toBeNull()
})
