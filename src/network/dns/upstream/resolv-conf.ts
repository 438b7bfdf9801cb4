/** The name servers of the host, from its resolv.conf. */
import { isIP } from 'node:net';
import type { Clock } from '../../../base/time/clock.ts';

/** Number of servers that are used, as by the system's resolver. */
const MAX_SERVERS = 3;
/** Interval for checking the file while queries are forwarded. */
const CHECK_MS = 5_000;

/** The addresses of `nameserver` lines, in their order, without duplicates. */
export function nameserversOf(text: string): string[] {
  const found = new Set<string>();
  for (const line of text.split('\n')) {
    const [keyword, address = ''] = line.trim().split(/\s+/);
    if (keyword === 'nameserver' && isIP(address.replace(/%.*$/, '')) !== 0) found.add(address);
  }
  return [...found].slice(0, MAX_SERVERS);
}

interface HostServersOptions {
  readonly clock: Clock;
  /** The file's content, or empty text when there is none. */
  readonly read: () => Promise<string>;
  /** Addresses that would lead back to this server. */
  readonly own: () => ReadonlySet<string>;
}

/** Returns the host's name servers; a changed file is noticed with the next query, without polling. */
export function hostServers({ clock, read, own }: HostServersOptions): () => Promise<readonly string[]> {
  let known: Promise<readonly string[]> | undefined;
  let readAt = 0;
  return () => {
    const now = clock.now();
    if (!known || now - readAt >= CHECK_MS) {
      readAt = now;
      known = read().then((text) => nameserversOf(text).filter((address) => !own().has(address)));
    }
    return known;
  };
}
