import { lookup, Resolver } from 'node:dns/promises';

/**
 * All IPv4 and IPv6 addresses of a host name, IPv4 first; none when nothing is known of it within `limitMs`. Never rejects.
 */
export type Resolve = (host: string, limitMs: number) => Promise<string[]>;

/**
 * Asks the name servers themselves: a name whose servers hang occupies none of the few threads of the system's own resolver,
 * which every other connection needs, and the question can be taken back. `servers`: `address:port`, instead of the machine's.
 */
export function dnsResolve(servers?: readonly string[]): Resolve {
  return async (host, limitMs) => {
    const resolver = new Resolver({ timeout: Math.ceil(Math.min(1_000, limitMs)), tries: 3 });
    if (servers !== undefined) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), limitMs);
    // Many a host has no address of one family, or servers that fail to say so. What is known is enough: all else is not used.
    const found = await Promise.all([resolver.resolve4(host).catch(none), resolver.resolve6(host).catch(none)]);
    clearTimeout(timer);
    return found.flat();
  };
}

/** As the machine does it, with its own files; for local development. */
export const systemResolve: Resolve = async (host, limitMs) => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string[]>((resolve) => {
    timer = setTimeout(resolve, limitMs, []);
  });
  const found = lookup(host, { all: true }).then((all) => all.map(({ address }) => address), none);
  const first = await Promise.race([found, late]);
  clearTimeout(timer);
  return first;
};

function none(): string[] {
  return [];
}
