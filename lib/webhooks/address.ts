import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only part of IPv6 that is given out to the world as unicast. Source: IANA's registry of IPv6 addresses. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Addresses of public ranges that a cloud answers inside itself: Azure's agent of the virtual machine. */
const cloudInternal: readonly string[] = ['168.63.129.16'];

/**
 * Whether an IP address, as text, is one that anybody on the Internet may have. Those that carry an IPv4 address inside an IPv6
 * one (mapped, compatible, NAT64, 6to4, Teredo) are not, whatever they carry; nor is one with a zone, or a text that is no
 * address in its usual spelling.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || cloudInternal.includes(text)) return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}
