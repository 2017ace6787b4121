// Reads the address of the client, as gateways pass it on in `X-Forwarded-For`.
import { BlockList, isIP } from 'node:net'

/**
 * An IPv4 address and a port, or an IPv6 address in brackets: written by Azure's gateways, and some
 * others.
 */
const WITH_PORT = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([\da-f:.]+)\](?::\d{1,5})?)$/i

/** Takes the port and the brackets off an address. Any other string stays as it is. */
export function withoutPort(text: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? []
  return ipv4 ?? ipv6 ?? text
}

/** Makes the test for addresses of gateways, with a port or without. @param ranges in CIDR notation */
export function knownGateways(ranges: readonly string[]): (text: string) => boolean {
  const gateways = new BlockList()
  for (const range of ranges) {
    const [address = '', length] = range.split('/')
    if (length === undefined) gateways.addAddress(address, familyOf(address))
    else gateways.addSubnet(address, Number(length), familyOf(address))
  }
  return (text) => {
    const address = withoutPort(text).replace(/%.*/, '') // without the zone of a link-local address
    return isIP(address) !== 0 && gateways.check(address, familyOf(address))
  }
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6')
