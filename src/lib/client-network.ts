import ipaddr from 'ipaddr.js'

/** One user has a whole /64 of IPv6. */
const IPV6_NETWORK_GROUPS = 4

/**
 * The network by which clients are told apart: an IPv4 address, also one that is mapped into IPv6, or the /64 of an IPv6
 * address. Null for what is no IP address.
 */
export function clientNetworkOf(ip: string): string | null {
  if (!ipaddr.isValid(ip)) return null
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const groups = (address as ipaddr.IPv6).parts.slice(0, IPV6_NETWORK_GROUPS)
  return `${groups.map(group => group.toString(16)).join(':')}::/64`
}
